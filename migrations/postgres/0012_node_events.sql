-- What happened to a node between two of its reports: another host name, other GPUs, a clock that is wrong, an installation
-- anew.

-- Which node has shown which GPU. `present`: the node's latest report that shows all of its GPUs has it.
CREATE TABLE node_gpu (
    node_id TEXT COLLATE "C" NOT NULL,
    uuid TEXT COLLATE "C" NOT NULL,
    present BOOLEAN NOT NULL,
    last_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (node_id, uuid)
);

CREATE INDEX gpu_by_uuid ON node_gpu (uuid, last_at);

-- `source` is what told it: a report or an enrolment, each of which tells a kind once.
CREATE TABLE node_event (
    node_id TEXT COLLATE "C" NOT NULL,
    source TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    at TIMESTAMPTZ NOT NULL,
    detail TEXT NOT NULL,
    PRIMARY KEY (node_id, source, kind)
);

CREATE INDEX event_by_time ON node_event (node_id, at);
