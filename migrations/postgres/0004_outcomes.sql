-- What came of trying what a record advises: one vote for each reporter, action and environment.

CREATE TABLE outcome (
    record_id TEXT COLLATE "C" NOT NULL REFERENCES record (id),
    action_sha256 TEXT COLLATE "C" NOT NULL,
    environment_sha256 TEXT COLLATE "C" NOT NULL,
    reporter TEXT COLLATE "C" NOT NULL REFERENCES token (id),
    kind TEXT COLLATE "C" NOT NULL CHECK (kind IN ('workaround', 'dead_end')),
    action TEXT NOT NULL,
    environment TEXT NOT NULL,
    revision BIGINT NOT NULL,
    worked BOOLEAN NOT NULL,
    reported_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (record_id, action_sha256, environment_sha256, reporter)
);
