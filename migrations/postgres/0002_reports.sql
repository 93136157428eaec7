-- Reports of agents, the nodes that sent them, what they measured and what the records say about them.

CREATE TABLE node (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    hostname TEXT,
    first_seen TIMESTAMPTZ NOT NULL,
    reports BIGINT NOT NULL,
    latest_report TEXT COLLATE "C" NOT NULL,
    latest_at TIMESTAMPTZ NOT NULL
);

CREATE TABLE report (
    node_id TEXT COLLATE "C" NOT NULL REFERENCES node (id),
    id TEXT COLLATE "C" NOT NULL,
    hostname TEXT,
    body_sha256 TEXT NOT NULL,
    body_bytes BIGINT NOT NULL,
    finished_at TIMESTAMPTZ NOT NULL,
    received_at TIMESTAMPTZ NOT NULL,
    schema_major BIGINT NOT NULL,
    schema_minor BIGINT NOT NULL,
    simulated BOOLEAN NOT NULL,
    verdict TEXT NOT NULL,
    reason TEXT NOT NULL,
    gpus BIGINT NOT NULL,
    findings BIGINT NOT NULL,
    correlated_seq BIGINT,
    body_zstd BYTEA NOT NULL,
    PRIMARY KEY (node_id, id)
);

CREATE INDEX report_by_id ON report (id);
CREATE INDEX report_by_arrival ON report (received_at, id);
CREATE INDEX report_by_node_arrival ON report (node_id, received_at, id);

CREATE TABLE measurement (
    node_id TEXT COLLATE "C" NOT NULL,
    report_id TEXT COLLATE "C" NOT NULL,
    metric TEXT COLLATE "C" NOT NULL,
    bytes BIGINT NOT NULL,
    unit TEXT NOT NULL,
    n BIGINT NOT NULL,
    matrix BYTEA NOT NULL,
    PRIMARY KEY (node_id, report_id, metric, bytes),
    FOREIGN KEY (node_id, report_id) REFERENCES report (node_id, id)
);

CREATE TABLE finding (
    node_id TEXT COLLATE "C" NOT NULL,
    report_id TEXT COLLATE "C" NOT NULL,
    ordinal BIGINT NOT NULL,
    record_id TEXT COLLATE "C",
    revision BIGINT,
    rule TEXT NOT NULL,
    subject TEXT NOT NULL,
    title TEXT NOT NULL,
    evidence TEXT NOT NULL,
    seq BIGINT NOT NULL,
    PRIMARY KEY (node_id, report_id, ordinal),
    FOREIGN KEY (node_id, report_id) REFERENCES report (node_id, id)
);

CREATE INDEX finding_by_record ON finding (record_id);
