-- What a report's verdict is worth, and each node's latest proof beside the latest look.
--
-- The latest of each is the run that ended last, by the node's clock, and never later than its report came.

ALTER TABLE report ADD COLUMN weight TEXT NOT NULL DEFAULT 'look' CHECK (weight IN ('look', 'alarm', 'proof'));
ALTER TABLE node ADD COLUMN proof_report TEXT;
ALTER TABLE node ADD COLUMN proof_at TEXT;

-- Of reports that are there already only the verdict is known here: one that is not 'unknown' counts as proven.
UPDATE report SET weight = 'proof' WHERE verdict <> 'unknown';

UPDATE node SET
    latest_report = (
        SELECT p.id FROM report p WHERE p.node_id = node.id
        ORDER BY min(p.finished_at, p.received_at) DESC, p.received_at DESC, p.id DESC LIMIT 1
    ),
    proof_report = (
        SELECT p.id FROM report p WHERE p.node_id = node.id AND p.weight = 'proof'
        ORDER BY min(p.finished_at, p.received_at) DESC, p.received_at DESC, p.id DESC LIMIT 1
    )
WHERE EXISTS (SELECT 1 FROM report p WHERE p.node_id = node.id);

UPDATE node SET
    hostname = (SELECT p.hostname FROM report p WHERE p.node_id = node.id AND p.id = node.latest_report),
    latest_at = (
        SELECT min(p.finished_at, p.received_at) FROM report p
        WHERE p.node_id = node.id AND p.id = node.latest_report
    ),
    proof_at = (
        SELECT min(p.finished_at, p.received_at) FROM report p
        WHERE p.node_id = node.id AND p.id = node.proof_report
    )
WHERE EXISTS (SELECT 1 FROM report p WHERE p.node_id = node.id);
