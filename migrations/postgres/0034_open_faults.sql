-- What is open of a node: each report whose fault nothing has ended, with the names of what it tells of.
--
-- `gone_from` is the report that shows the GPUs that are gone in this one.

ALTER TABLE report ADD COLUMN open_causes TEXT COLLATE "C";
ALTER TABLE report ADD COLUMN gone_from TEXT COLLATE "C";
CREATE INDEX report_open ON report (node_id) WHERE open_causes IS NOT NULL;
-- What is open is held against a proof now, and not each alarm.
DROP INDEX report_alarms;

-- Of reports that are there already the causes are not known here, so that each is one of its own, until the next fault of the node has the
-- program read and name them. Where a fault stands, the faults since the last proof of health are open; of those that say the same the latest.
UPDATE report SET open_causes = json_build_array('report:' || id)::text
WHERE (node_id, id) IN (
    SELECT faults.node_id, faults.id FROM (
        SELECT p.node_id, p.id, row_number() OVER (
            PARTITION BY p.node_id, p.weight, p.verdict, p.reason, p.gpus
            ORDER BY COALESCE(p.ended_at, least(p.finished_at, p.received_at)) DESC, p.received_at DESC, p.id DESC
        ) AS place
        FROM node n
        JOIN report s ON s.node_id = n.id AND s.id = n.proof_report
            AND (s.weight = 'alarm' OR s.verdict IN ('broken', 'refused'))
        LEFT JOIN (
            SELECT node_id, simulated, max(COALESCE(ended_at, least(finished_at, received_at))) AS at
            FROM report WHERE weight = 'proof' AND verdict IN ('healthy', 'degraded')
            GROUP BY node_id, simulated
        ) health ON health.node_id = n.id AND health.simulated = s.simulated
        JOIN report p ON p.node_id = n.id AND p.simulated = s.simulated
            AND (p.weight = 'alarm' OR (p.weight = 'proof' AND p.verdict IN ('broken', 'refused')))
        WHERE p.id = s.id OR health.at IS NULL OR COALESCE(p.ended_at, least(p.finished_at, p.received_at)) > health.at
    ) faults
    WHERE faults.place = 1
);
