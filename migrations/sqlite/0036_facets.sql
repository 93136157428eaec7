-- What a node is made of and how it is set up, as its last report told it: versions and settings by which affected nodes may be told
-- apart from others. `facets` is a JSON object of texts.

CREATE TABLE node_facets (
    node_id TEXT NOT NULL REFERENCES node (id),
    simulated INTEGER NOT NULL CHECK (simulated IN (0, 1)),
    model TEXT NOT NULL,
    told_at TEXT NOT NULL,
    facets TEXT NOT NULL,
    PRIMARY KEY (node_id, simulated)
) STRICT;
