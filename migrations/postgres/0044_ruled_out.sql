-- What a change of the rules took of a report's fault, by names of causes, and no report ended: the report is judged again when the rules
-- change once more. And how often reports of a node were judged anew: what is held against them meanwhile is held against them again.

ALTER TABLE report ADD COLUMN ruled_out TEXT;
CREATE INDEX report_ruled_out ON report (node_id) WHERE ruled_out IS NOT NULL;
ALTER TABLE node ADD COLUMN judged_anew BIGINT NOT NULL DEFAULT 0;

-- Before this, findings were made by the rules of the day, and the verdict beside them stayed: what tells of a node is judged once more.
UPDATE report SET rule_set = '' FROM
    (SELECT n.id AS node_id, n.latest_report AS id FROM node n
        UNION SELECT n.id, n.proof_report FROM node n
        UNION SELECT o.node_id, o.id FROM report o WHERE o.open_causes IS NOT NULL) t
    WHERE report.node_id = t.node_id AND report.id = t.id;
