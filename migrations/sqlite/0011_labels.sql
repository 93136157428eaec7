-- Labels that a join token hands on to the nodes that enrol with it: rack, site, owner.

-- Of a join token, as a JSON object of texts.
ALTER TABLE token ADD COLUMN labels TEXT;

-- Of a node, as of its last enrolment. A node may enrol before its first report.
CREATE TABLE node_label (
    node_id TEXT NOT NULL,
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (node_id, name)
) STRICT;

CREATE INDEX node_by_label ON node_label (name, value, node_id);
