-- What of nodes was told to other programs, so that a beginning and an end are told once each.

-- `opened_at` of the span whose beginning was told; none before, and none again once its end was told.
ALTER TABLE node_finding ADD COLUMN told_at TIMESTAMPTZ;

CREATE INDEX node_finding_untold ON node_finding (opened_at, node_id)
    WHERE is_open AND NOT simulated AND bearing <> 'event' AND (told_at IS NULL OR told_at < opened_at);
CREATE INDEX node_finding_untold_end ON node_finding (ended_at, node_id)
    WHERE told_at IS NOT NULL AND NOT (is_open AND NOT simulated AND bearing <> 'event');
CREATE INDEX node_finding_ended ON node_finding (ended_at) WHERE NOT is_open;

-- Silent nodes, with the looks in a row that saw them silent.
CREATE TABLE node_silence (
    node_id TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES node (id),
    looks BIGINT NOT NULL,
    told_at TIMESTAMPTZ
);

-- What one of several servers does at a time: nobody else before then.
CREATE TABLE turn (
    name TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    due_at TIMESTAMPTZ NOT NULL
);

-- When a cause of a group of nodes was told last. `labels` is a JSON object.
CREATE TABLE told_group (
    kind TEXT COLLATE "C" NOT NULL,
    cause TEXT COLLATE "C" NOT NULL,
    labels TEXT COLLATE "C" NOT NULL,
    told_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (kind, cause, labels)
);
