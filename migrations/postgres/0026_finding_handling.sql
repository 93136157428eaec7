-- What people do about what a node shows: who looks after it, and that it is acknowledged, or silenced until a time.

ALTER TABLE node_finding ADD COLUMN handling TEXT COLLATE "C" NOT NULL DEFAULT '' CHECK (handling IN ('', 'acknowledged', 'silenced'));
ALTER TABLE node_finding ADD COLUMN silenced_until TIMESTAMPTZ;
ALTER TABLE node_finding ADD COLUMN owner TEXT;
ALTER TABLE node_finding ADD COLUMN note TEXT;
ALTER TABLE node_finding ADD COLUMN handled_by TEXT;
ALTER TABLE node_finding ADD COLUMN handled_at TIMESTAMPTZ;
