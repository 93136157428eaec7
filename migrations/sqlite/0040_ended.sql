-- The order of a node's reports is when their runs ended. A spool that is drained sends many that came after each other and ended long
-- before: by arrival, each would be held against all that came since it ended. When a run ended lies behind the body.

CREATE INDEX report_by_end ON report (node_id, simulated,
    COALESCE(ended_at, CASE WHEN finished_at < received_at THEN finished_at ELSE received_at END), received_at, id);

DROP INDEX report_proofs;
CREATE INDEX report_proofs ON report (node_id, simulated,
    COALESCE(ended_at, CASE WHEN finished_at < received_at THEN finished_at ELSE received_at END), received_at, id)
    WHERE weight = 'proof';
