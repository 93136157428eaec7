-- Answers that are shared stand in the room of anonymous writing, under a name of which the hash is kept. The check of the kind
-- cannot be changed, and feedback refers to the table: a column with the new check takes the place of the old one.

ALTER TABLE anonymous_entry ADD COLUMN kind_now TEXT NOT NULL DEFAULT 'lines'
    CHECK (kind_now IN ('suggestion', 'vote', 'lines', 'answer'));
UPDATE anonymous_entry SET kind_now = kind;
DROP INDEX anonymous_entry_by_kind;
ALTER TABLE anonymous_entry DROP COLUMN kind;
ALTER TABLE anonymous_entry RENAME COLUMN kind_now TO kind;
CREATE INDEX anonymous_entry_by_kind ON anonymous_entry (kind, n);

ALTER TABLE anonymous_entry ADD COLUMN name_sha256 TEXT;
CREATE UNIQUE INDEX anonymous_entry_by_name ON anonymous_entry (name_sha256);
