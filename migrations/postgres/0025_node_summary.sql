-- A summary of each node and what is open on it, kept as reports come: lists and counts of a fleet read no report.

CREATE TABLE node_summary (
    node_id TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES node (id),
    verdict TEXT COLLATE "C" NOT NULL,
    -- The worst first.
    verdict_order BIGINT NOT NULL,
    since TIMESTAMPTZ NOT NULL,
    standing_report TEXT COLLATE "C" NOT NULL,
    heard_at TIMESTAMPTZ NOT NULL,
    simulated BOOLEAN NOT NULL,
    gpus BIGINT NOT NULL,
    -- Empty where it is not known, as are all texts below.
    model TEXT COLLATE "C" NOT NULL,
    driver TEXT COLLATE "C" NOT NULL,
    cause_record TEXT COLLATE "C" NOT NULL,
    cause_rule TEXT COLLATE "C" NOT NULL,
    action TEXT COLLATE "C" NOT NULL,
    -- Id and host name in small letters, for the search.
    search TEXT COLLATE "C" NOT NULL
);

CREATE INDEX node_summary_counts ON node_summary (verdict, action, model, driver, simulated, gpus);
CREATE INDEX node_summary_verdict ON node_summary (verdict_order, node_id);
CREATE INDEX node_summary_heard ON node_summary (heard_at, node_id);
CREATE INDEX node_summary_since ON node_summary (since, node_id);
CREATE INDEX node_summary_gpus ON node_summary (gpus, node_id);

-- What reports of a node show, by the record that explains it, else by the rule that found it.
CREATE TABLE node_finding (
    node_id TEXT COLLATE "C" NOT NULL REFERENCES node (id),
    -- Id of the record, else `rule:` and the rule.
    name TEXT COLLATE "C" NOT NULL,
    record_id TEXT COLLATE "C",
    rule TEXT COLLATE "C" NOT NULL,
    title TEXT COLLATE "C" NOT NULL,
    subjects BIGINT NOT NULL,
    severity TEXT COLLATE "C" NOT NULL,
    action TEXT COLLATE "C" NOT NULL,
    bearing TEXT COLLATE "C" NOT NULL,
    simulated BOOLEAN NOT NULL,
    -- The report that stands or the latest one shows it.
    is_open BOOLEAN NOT NULL,
    first_at TIMESTAMPTZ NOT NULL,
    opened_at TIMESTAMPTZ NOT NULL,
    last_at TIMESTAMPTZ NOT NULL,
    ended_at TIMESTAMPTZ,
    -- Reports that showed it.
    reports BIGINT NOT NULL,
    PRIMARY KEY (node_id, name)
);

CREATE INDEX node_finding_open ON node_finding (record_id, rule, node_id, simulated) WHERE is_open;

-- What a finding means for the node, as the records say when it is made.
ALTER TABLE finding ADD COLUMN severity TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE finding ADD COLUMN action TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE finding ADD COLUMN bearing TEXT COLLATE "C" NOT NULL DEFAULT 'unknown';

INSERT INTO node_summary (node_id, verdict, verdict_order, since, standing_report, heard_at, simulated, gpus, model, driver,
    cause_record, cause_rule, action, search)
SELECT s.node_id, r.verdict,
    CASE r.verdict WHEN 'broken' THEN 0 WHEN 'refused' THEN 1 WHEN 'unknown' THEN 2 WHEN 'degraded' THEN 3
        WHEN 'no_fault_seen' THEN 4 ELSE 5 END,
    COALESCE(
        CASE WHEN r.weight = 'proof' THEN (
            SELECT MIN(p.received_at) FROM report p WHERE p.node_id = s.node_id AND p.weight = 'proof'
                AND p.verdict = r.verdict AND p.received_at > COALESCE((
                    SELECT MAX(o.received_at) FROM report o
                    WHERE o.node_id = s.node_id AND o.weight = 'proof' AND o.verdict <> r.verdict
                ), '-infinity')
        ) END,
        r.received_at
    ),
    r.id, s.latest_at, r.simulated, r.gpus, '', '', '', '', '',
    lower(s.node_id || ' ' || COALESCE(s.hostname, ''))
FROM (
    SELECT n.id AS node_id, n.hostname, n.latest_at, CASE
        WHEN n.proof_report IS NULL THEN n.latest_report
        WHEN n.proof_report = n.latest_report OR p.verdict <> 'healthy' THEN n.proof_report
        WHEN l.weight = 'alarm' THEN n.latest_report
        ELSE n.proof_report END AS report_id
    FROM node n JOIN report l ON l.node_id = n.id AND l.id = n.latest_report
    LEFT JOIN report p ON p.node_id = n.id AND p.id = n.proof_report
) s JOIN report r ON r.node_id = s.node_id AND r.id = s.report_id;

INSERT INTO node_finding (node_id, name, record_id, rule, title, subjects, severity, action, bearing, simulated, is_open,
    first_at, opened_at, last_at, ended_at, reports)
SELECT f.node_id, COALESCE(m.record_id, f.record_id, 'rule:' || substr(f.rule, 1, 200)), COALESCE(m.record_id, f.record_id),
    substr(MIN(f.rule COLLATE "C"), 1, 200), substr(MIN(f.title COLLATE "C"), 1, 500), COUNT(DISTINCT f.subject), '', '', 'unknown', BOOL_AND(r.simulated), TRUE,
    MIN(r.received_at), MIN(r.received_at), MAX(r.received_at), NULL, COUNT(DISTINCT f.report_id)
FROM node_summary s JOIN node n ON n.id = s.node_id
JOIN finding f ON f.node_id = s.node_id AND f.report_id IN (s.standing_report, n.latest_report)
JOIN report r ON r.node_id = f.node_id AND r.id = f.report_id
LEFT JOIN moved m ON m.former = f.record_id
GROUP BY f.node_id, COALESCE(m.record_id, f.record_id, 'rule:' || substr(f.rule, 1, 200)), COALESCE(m.record_id, f.record_id);

-- Model, driver, cause and action stand in the reports: the program looks at these again when it starts.
UPDATE report SET correlated_seq = NULL WHERE EXISTS (
    SELECT 1 FROM node n WHERE n.id = report.node_id AND report.id IN (n.latest_report, n.proof_report)
);
