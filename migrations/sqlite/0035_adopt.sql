-- A join token that may take the id of a node over from another machine: of machines that were exchanged, or set up anew with a
-- board or a machine id that differs.
ALTER TABLE token ADD COLUMN adopts INTEGER NOT NULL DEFAULT 0 CHECK (adopts IN (0, 1));
