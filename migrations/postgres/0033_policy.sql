-- By which version of records and policy a report was judged.
ALTER TABLE report ADD COLUMN rule_set TEXT COLLATE "C" NOT NULL DEFAULT '';

-- What the site's policy made of a finding: JSON with rule, reason and what it was by the records; empty where the records decided.
ALTER TABLE finding ADD COLUMN by_policy TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE node_finding ADD COLUMN by_policy TEXT COLLATE "C" NOT NULL DEFAULT '';

ALTER TABLE node_summary ADD COLUMN rule_set TEXT COLLATE "C" NOT NULL DEFAULT '';
-- Open findings that the policy makes milder.
ALTER TABLE node_summary ADD COLUMN milder BIGINT NOT NULL DEFAULT 0;

-- What a node was advised, each time that this or what decides about it changed.
CREATE TABLE advice (
    node_id TEXT COLLATE "C" NOT NULL REFERENCES node (id),
    at TIMESTAMPTZ NOT NULL,
    -- The report whose verdict stood.
    report_id TEXT COLLATE "C" NOT NULL,
    verdict TEXT COLLATE "C" NOT NULL,
    action TEXT COLLATE "C" NOT NULL,
    cause_record TEXT COLLATE "C" NOT NULL,
    cause_rule TEXT COLLATE "C" NOT NULL,
    rule_set TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (node_id, at, report_id)
);
