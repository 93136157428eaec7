-- What each node measured in its good runs, a few figures for each series: what other nodes of its kind are held against.
-- It is kept as reports come, so that nobody reads all of them. `series` is a JSON list.

CREATE TABLE baseline (
    node_id TEXT NOT NULL REFERENCES node (id),
    simulated INTEGER NOT NULL CHECK (simulated IN (0, 1)),
    model TEXT NOT NULL,
    driver_branch INTEGER NOT NULL,
    changed_at TEXT NOT NULL,
    series TEXT NOT NULL,
    PRIMARY KEY (node_id, simulated)
) STRICT;

CREATE INDEX baseline_cohort ON baseline (model, driver_branch, simulated, changed_at);

-- A node's last good runs. Most reports are none, and verdicts lie behind the bodies.

CREATE INDEX report_healthy ON report (node_id, received_at) WHERE verdict = 'healthy';
