-- What each node measured in its good runs, a few figures for each series: what other nodes of its kind are held against.
-- It is kept as reports come, so that nobody reads all of them. `series` is a JSON list.

CREATE TABLE baseline (
    node_id TEXT COLLATE "C" NOT NULL REFERENCES node (id),
    simulated BOOLEAN NOT NULL,
    model TEXT COLLATE "C" NOT NULL,
    driver_branch BIGINT NOT NULL,
    changed_at TIMESTAMPTZ NOT NULL,
    series TEXT NOT NULL,
    PRIMARY KEY (node_id, simulated)
);

CREATE INDEX baseline_cohort ON baseline (model, driver_branch, simulated, changed_at);

-- A node's last good runs. Most reports are none, and verdicts lie behind the bodies.

CREATE INDEX report_healthy ON report (node_id, received_at) WHERE verdict = 'healthy';
