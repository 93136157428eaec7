-- Where a record went that is another one now: merged into it, or given another id. Its former ids came along.

CREATE TABLE moved (
    former TEXT NOT NULL PRIMARY KEY,
    record_id TEXT NOT NULL REFERENCES record (id)
) STRICT;

CREATE INDEX moved_by_record ON moved (record_id);
