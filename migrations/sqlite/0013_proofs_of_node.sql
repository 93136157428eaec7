-- A report is held against the node's other proofs. Most reports are none, and weights lie behind the bodies.

CREATE INDEX report_proofs ON report (node_id, received_at) WHERE weight = 'proof';
