-- What a node is made of and how it is set up, as its last report told it: versions and settings by which affected nodes may be told
-- apart from others. `facets` is a JSON object of texts.

CREATE TABLE node_facets (
    node_id TEXT COLLATE "C" NOT NULL REFERENCES node (id),
    simulated BOOLEAN NOT NULL,
    model TEXT COLLATE "C" NOT NULL,
    told_at TIMESTAMPTZ NOT NULL,
    facets TEXT NOT NULL,
    PRIMARY KEY (node_id, simulated)
);
