-- Answers that are shared stand in the room of anonymous writing, under a name of which the hash is kept.

ALTER TABLE anonymous_entry DROP CONSTRAINT anonymous_entry_kind_check;
ALTER TABLE anonymous_entry ADD CONSTRAINT anonymous_entry_kind_check
    CHECK (kind IN ('suggestion', 'vote', 'lines', 'answer'));

ALTER TABLE anonymous_entry ADD COLUMN name_sha256 TEXT COLLATE "C";
CREATE UNIQUE INDEX anonymous_entry_by_name ON anonymous_entry (name_sha256);
