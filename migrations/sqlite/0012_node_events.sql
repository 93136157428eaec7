-- What happened to a node between two of its reports: another host name, other GPUs, a clock that is wrong, an installation
-- anew.

-- Which node has shown which GPU. `present`: the node's latest report that shows all of its GPUs has it.
CREATE TABLE node_gpu (
    node_id TEXT NOT NULL,
    uuid TEXT NOT NULL,
    present INTEGER NOT NULL CHECK (present IN (0, 1)),
    last_at TEXT NOT NULL,
    PRIMARY KEY (node_id, uuid)
) STRICT;

CREATE INDEX gpu_by_uuid ON node_gpu (uuid, last_at);

-- `source` is what told it: a report or an enrolment, each of which tells a kind once.
CREATE TABLE node_event (
    node_id TEXT NOT NULL,
    source TEXT NOT NULL,
    kind TEXT NOT NULL,
    at TEXT NOT NULL,
    detail TEXT NOT NULL,
    PRIMARY KEY (node_id, source, kind)
) STRICT;

CREATE INDEX event_by_time ON node_event (node_id, at);
