-- The set of records that a source brought last, where all of it was imported: a start that brings the same set need not read it.

CREATE TABLE seed_set (
    source TEXT NOT NULL PRIMARY KEY,
    sha256 TEXT NOT NULL
) STRICT;
