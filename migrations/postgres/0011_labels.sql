-- Labels that a join token hands on to the nodes that enrol with it: rack, site, owner.

-- Of a join token, as a JSON object of texts.
ALTER TABLE token ADD COLUMN labels TEXT;

-- Of a node, as of its last enrolment. A node may enrol before its first report.
CREATE TABLE node_label (
    node_id TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    value TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (node_id, name)
);

CREATE INDEX node_by_label ON node_label (name, value, node_id);
