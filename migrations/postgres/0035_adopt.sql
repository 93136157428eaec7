-- A join token that may take the id of a node over from another machine: of machines that were exchanged, or set up anew with a
-- board or a machine id that differs.
ALTER TABLE token ADD COLUMN adopts BOOLEAN NOT NULL DEFAULT FALSE;
