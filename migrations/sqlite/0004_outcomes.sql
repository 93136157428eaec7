-- What came of trying what a record advises: one vote for each reporter, action and environment.

CREATE TABLE outcome (
    record_id TEXT NOT NULL REFERENCES record (id),
    action_sha256 TEXT NOT NULL,
    environment_sha256 TEXT NOT NULL,
    reporter TEXT NOT NULL REFERENCES token (id),
    kind TEXT NOT NULL CHECK (kind IN ('workaround', 'dead_end')),
    action TEXT NOT NULL,
    environment TEXT NOT NULL,
    revision INTEGER NOT NULL,
    worked INTEGER NOT NULL CHECK (worked IN (0, 1)),
    reported_at TEXT NOT NULL,
    PRIMARY KEY (record_id, action_sha256, environment_sha256, reporter)
) STRICT;
