-- A reporter has one vote for an action and a GPU model: versions of drivers can be invented without end. Of several
-- that were kept for one model the latest stays.

CREATE TABLE outcome_of_model (
    record_id TEXT NOT NULL REFERENCES record (id),
    action_sha256 TEXT NOT NULL,
    -- In lower case; empty where none was told.
    model TEXT NOT NULL,
    reporter TEXT NOT NULL REFERENCES token (id),
    kind TEXT NOT NULL CHECK (kind IN ('workaround', 'dead_end')),
    action TEXT NOT NULL,
    environment TEXT NOT NULL,
    revision INTEGER NOT NULL,
    worked INTEGER NOT NULL CHECK (worked IN (0, 1)),
    reported_at TEXT NOT NULL,
    PRIMARY KEY (record_id, action_sha256, model, reporter)
) STRICT;

INSERT OR REPLACE INTO outcome_of_model
    (record_id, action_sha256, model, reporter, kind, action, environment, revision, worked, reported_at)
SELECT record_id, action_sha256, lower(coalesce(json_extract(environment, '$.gpu_model'), '')), reporter, kind, action,
    environment, revision, worked, reported_at
FROM outcome ORDER BY reported_at;

DROP TABLE outcome;
ALTER TABLE outcome_of_model RENAME TO outcome;
