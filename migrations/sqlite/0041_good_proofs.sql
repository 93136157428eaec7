-- Of a node of which nothing is open the latest good proof stands. A node that warned in each run for long has many later ones.

CREATE INDEX report_good ON report (node_id, simulated,
    COALESCE(ended_at, CASE WHEN finished_at < received_at THEN finished_at ELSE received_at END), received_at, id)
    WHERE weight = 'proof' AND verdict IN ('healthy', 'no_fault_seen');
