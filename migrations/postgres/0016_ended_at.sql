-- When a run ended by the server's clock, where the node's own is known to be wrong. Absent: the earlier of
-- `finished_at` and `received_at`.

ALTER TABLE report ADD COLUMN ended_at TIMESTAMPTZ;
