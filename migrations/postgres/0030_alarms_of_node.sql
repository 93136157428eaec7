-- A proof of fewer GPUs than before is held against the node's latest alarm.

CREATE INDEX report_alarms ON report (node_id, received_at) WHERE weight = 'alarm';
