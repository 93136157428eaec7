-- Lines that look like errors and that no record knows, as templates: how often each was seen, on which nodes and days, and
-- what was made of it.

CREATE TABLE unmatched (
    id TEXT COLLATE "C" PRIMARY KEY,
    tokens TEXT NOT NULL,
    template TEXT COLLATE "C" NOT NULL,
    examples TEXT NOT NULL,
    count BIGINT NOT NULL,
    first_seen TIMESTAMPTZ NOT NULL,
    last_seen TIMESTAMPTZ NOT NULL,
    state TEXT COLLATE "C" NOT NULL CHECK (state IN ('open', 'ignored', 'known')),
    assignee TEXT,
    reason TEXT,
    record_id TEXT COLLATE "C" REFERENCES record (id),
    changed_by TEXT,
    changed_at TIMESTAMPTZ
);

CREATE INDEX unmatched_count ON unmatched (state, count);

CREATE TABLE unmatched_seen (
    unmatched_id TEXT COLLATE "C" NOT NULL REFERENCES unmatched (id),
    node TEXT COLLATE "C" NOT NULL,
    day TEXT COLLATE "C" NOT NULL,
    count BIGINT NOT NULL,
    PRIMARY KEY (unmatched_id, node, day)
);

CREATE INDEX unmatched_seen_day ON unmatched_seen (day);
