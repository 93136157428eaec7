-- What a finding was about when it opened: GPUs, pairs, causes, as a JSON array of names; empty where that was not noted. What people
-- said about the finding covers no more than this.

ALTER TABLE node_finding ADD COLUMN about TEXT NOT NULL DEFAULT '';
