-- Credentials of nodes. A node enrols with a token that may do so a number of times, and gets one that writes this node
-- alone.

-- The only node that the token may write; any where it is not said.
ALTER TABLE token ADD COLUMN node_id TEXT;
-- Hash of the machine that enrolled, which tells an installation anew from another machine with the same id.
ALTER TABLE token ADD COLUMN machine_sha256 TEXT;
-- Enrolments that are left of a token; without end where it is not said.
ALTER TABLE token ADD COLUMN uses_left INTEGER;

CREATE UNIQUE INDEX token_of_node ON token (node_id) WHERE node_id IS NOT NULL AND revoked_at IS NULL;
