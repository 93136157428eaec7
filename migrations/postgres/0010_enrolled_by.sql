-- The join token that a credential was enrolled with: an answer that was lost may be asked for again with the same one.
ALTER TABLE token ADD COLUMN enrolled_by TEXT COLLATE "C";
