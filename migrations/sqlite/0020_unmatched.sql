-- Lines that look like errors and that no record knows, as templates: how often each was seen, on which nodes and days, and
-- what was made of it.

CREATE TABLE unmatched (
    id TEXT PRIMARY KEY,
    tokens TEXT NOT NULL,
    template TEXT NOT NULL,
    examples TEXT NOT NULL,
    count INTEGER NOT NULL,
    first_seen TEXT NOT NULL,
    last_seen TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('open', 'ignored', 'known')),
    assignee TEXT,
    reason TEXT,
    record_id TEXT REFERENCES record (id),
    changed_by TEXT,
    changed_at TEXT
) STRICT;

CREATE INDEX unmatched_count ON unmatched (state, count);

CREATE TABLE unmatched_seen (
    unmatched_id TEXT NOT NULL REFERENCES unmatched (id),
    node TEXT NOT NULL,
    day TEXT NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (unmatched_id, node, day)
) STRICT;

CREATE INDEX unmatched_seen_day ON unmatched_seen (day);
