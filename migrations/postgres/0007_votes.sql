-- A reporter has one vote for an action and a GPU model: versions of drivers can be invented without end. Of several
-- that were kept for one model the latest stays.

CREATE TABLE outcome_of_model (
    record_id TEXT COLLATE "C" NOT NULL REFERENCES record (id),
    action_sha256 TEXT COLLATE "C" NOT NULL,
    -- In lower case; empty where none was told.
    model TEXT COLLATE "C" NOT NULL,
    reporter TEXT COLLATE "C" NOT NULL REFERENCES token (id),
    kind TEXT COLLATE "C" NOT NULL CHECK (kind IN ('workaround', 'dead_end')),
    action TEXT NOT NULL,
    environment TEXT NOT NULL,
    revision BIGINT NOT NULL,
    worked BOOLEAN NOT NULL,
    reported_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (record_id, action_sha256, model, reporter)
);

INSERT INTO outcome_of_model
    (record_id, action_sha256, model, reporter, kind, action, environment, revision, worked, reported_at)
SELECT DISTINCT ON (record_id, action_sha256, model, reporter)
    record_id, action_sha256, lower(coalesce(environment::json ->> 'gpu_model', '')) AS model, reporter, kind, action,
    environment, revision, worked, reported_at
FROM outcome ORDER BY record_id, action_sha256, model, reporter, reported_at DESC;

DROP TABLE outcome;
ALTER TABLE outcome_of_model RENAME TO outcome;
