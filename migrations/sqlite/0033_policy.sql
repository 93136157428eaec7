-- By which version of records and policy a report was judged.
ALTER TABLE report ADD COLUMN rule_set TEXT NOT NULL DEFAULT '';

-- What the site's policy made of a finding: JSON with rule, reason and what it was by the records; empty where the records decided.
ALTER TABLE finding ADD COLUMN by_policy TEXT NOT NULL DEFAULT '';
ALTER TABLE node_finding ADD COLUMN by_policy TEXT NOT NULL DEFAULT '';

ALTER TABLE node_summary ADD COLUMN rule_set TEXT NOT NULL DEFAULT '';
-- Open findings that the policy makes milder.
ALTER TABLE node_summary ADD COLUMN milder INTEGER NOT NULL DEFAULT 0;

-- What a node was advised, each time that this or what decides about it changed.
CREATE TABLE advice (
    node_id TEXT NOT NULL REFERENCES node (id),
    at TEXT NOT NULL,
    -- The report whose verdict stood.
    report_id TEXT NOT NULL,
    verdict TEXT NOT NULL,
    action TEXT NOT NULL,
    cause_record TEXT NOT NULL,
    cause_rule TEXT NOT NULL,
    rule_set TEXT NOT NULL,
    PRIMARY KEY (node_id, at, report_id)
) STRICT;
