-- What of nodes was told to other programs, so that a beginning and an end are told once each.

-- `opened_at` of the span whose beginning was told; none before, and none again once its end was told.
ALTER TABLE node_finding ADD COLUMN told_at TEXT;

CREATE INDEX node_finding_untold ON node_finding (opened_at, node_id)
    WHERE is_open AND NOT simulated AND bearing <> 'event' AND (told_at IS NULL OR told_at < opened_at);
CREATE INDEX node_finding_untold_end ON node_finding (ended_at, node_id)
    WHERE told_at IS NOT NULL AND NOT (is_open AND NOT simulated AND bearing <> 'event');
CREATE INDEX node_finding_ended ON node_finding (ended_at) WHERE NOT is_open;

-- Silent nodes, with the looks in a row that saw them silent.
CREATE TABLE node_silence (
    node_id TEXT NOT NULL PRIMARY KEY REFERENCES node (id),
    looks INTEGER NOT NULL,
    told_at TEXT
) STRICT;

-- What one of several servers does at a time: nobody else before then.
CREATE TABLE turn (
    name TEXT NOT NULL PRIMARY KEY,
    due_at TEXT NOT NULL
) STRICT;

-- When a cause of a group of nodes was told last. `labels` is a JSON object.
CREATE TABLE told_group (
    kind TEXT NOT NULL,
    cause TEXT NOT NULL,
    labels TEXT NOT NULL,
    told_at TEXT NOT NULL,
    PRIMARY KEY (kind, cause, labels)
) STRICT;
