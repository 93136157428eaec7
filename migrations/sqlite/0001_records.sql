-- Records, their revisions, what is derived from the published one, the feed's counter and the memory of seeding.
-- Times are UTC text of one width (2026-01-02T03:04:05.000006Z), so that they sort as text.

CREATE TABLE record (
    id TEXT NOT NULL PRIMARY KEY,
    state TEXT NOT NULL CHECK (state IN ('draft', 'in_review', 'published', 'withdrawn')),
    head_revision INTEGER NOT NULL,
    published_revision INTEGER,
    seq INTEGER UNIQUE,
    signature TEXT,
    changed_at TEXT NOT NULL
) STRICT;

CREATE TABLE revision (
    record_id TEXT NOT NULL REFERENCES record (id),
    revision INTEGER NOT NULL CHECK (revision > 0),
    document_sha256 TEXT NOT NULL,
    annex_sha256 TEXT NOT NULL,
    actor TEXT NOT NULL,
    note TEXT,
    made_at TEXT NOT NULL,
    document TEXT NOT NULL,
    annex TEXT NOT NULL,
    PRIMARY KEY (record_id, revision)
) STRICT;

CREATE TRIGGER revision_is_not_changed BEFORE UPDATE ON revision
BEGIN
    SELECT RAISE(ABORT, 'a revision is never changed');
END;

CREATE TRIGGER revision_is_not_deleted BEFORE DELETE ON revision
BEGIN
    SELECT RAISE(ABORT, 'a revision is never deleted');
END;

CREATE TABLE alias (
    alias TEXT NOT NULL PRIMARY KEY,
    record_id TEXT NOT NULL REFERENCES record (id)
) STRICT;

CREATE INDEX alias_by_record ON alias (record_id);

CREATE TABLE code (
    record_id TEXT NOT NULL REFERENCES record (id),
    folded TEXT NOT NULL,
    written TEXT NOT NULL,
    PRIMARY KEY (record_id, folded)
) STRICT;

CREATE INDEX code_by_text ON code (folded, record_id);

CREATE TABLE edge (
    from_id TEXT NOT NULL REFERENCES record (id),
    ordinal INTEGER NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('leads_to', 'preceded_by', 'frequently_confused_with')),
    to_id TEXT NOT NULL,
    probability REAL,
    condition TEXT,
    distinction TEXT,
    typical_delay TEXT,
    PRIMARY KEY (from_id, ordinal)
) STRICT;

CREATE INDEX edge_by_target ON edge (to_id);

CREATE TABLE counter (
    name TEXT NOT NULL PRIMARY KEY,
    value INTEGER NOT NULL
) STRICT;

INSERT INTO counter (name, value) VALUES ('feed', 0);

-- What each source gave last: the program's own records and imports by people do not overwrite each other.
CREATE TABLE seed_import (
    record_id TEXT NOT NULL REFERENCES record (id),
    source TEXT NOT NULL,
    sha256 TEXT,
    revision INTEGER,
    waiting_sha256 TEXT,
    waiting_since TEXT,
    PRIMARY KEY (record_id, source)
) STRICT;
