-- Reports of agents, the nodes that sent them, what they measured and what the records say about them.

CREATE TABLE node (
    id TEXT NOT NULL PRIMARY KEY,
    hostname TEXT,
    first_seen TEXT NOT NULL,
    reports INTEGER NOT NULL,
    latest_report TEXT NOT NULL,
    latest_at TEXT NOT NULL
) STRICT;

CREATE TABLE report (
    node_id TEXT NOT NULL REFERENCES node (id),
    id TEXT NOT NULL,
    hostname TEXT,
    body_sha256 TEXT NOT NULL,
    body_bytes INTEGER NOT NULL,
    finished_at TEXT NOT NULL,
    received_at TEXT NOT NULL,
    schema_major INTEGER NOT NULL,
    schema_minor INTEGER NOT NULL,
    simulated INTEGER NOT NULL CHECK (simulated IN (0, 1)),
    verdict TEXT NOT NULL,
    reason TEXT NOT NULL,
    gpus INTEGER NOT NULL,
    findings INTEGER NOT NULL,
    correlated_seq INTEGER,
    body_zstd BLOB NOT NULL,
    PRIMARY KEY (node_id, id)
) STRICT;

CREATE INDEX report_by_id ON report (id);
CREATE INDEX report_by_arrival ON report (received_at, id);
CREATE INDEX report_by_node_arrival ON report (node_id, received_at, id);

CREATE TABLE measurement (
    node_id TEXT NOT NULL,
    report_id TEXT NOT NULL,
    metric TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    unit TEXT NOT NULL,
    n INTEGER NOT NULL,
    matrix BLOB NOT NULL,
    PRIMARY KEY (node_id, report_id, metric, bytes),
    FOREIGN KEY (node_id, report_id) REFERENCES report (node_id, id)
) STRICT;

CREATE TABLE finding (
    node_id TEXT NOT NULL,
    report_id TEXT NOT NULL,
    ordinal INTEGER NOT NULL,
    record_id TEXT,
    revision INTEGER,
    rule TEXT NOT NULL,
    subject TEXT NOT NULL,
    title TEXT NOT NULL,
    evidence TEXT NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (node_id, report_id, ordinal),
    FOREIGN KEY (node_id, report_id) REFERENCES report (node_id, id)
) STRICT;

CREATE INDEX finding_by_record ON finding (record_id);
