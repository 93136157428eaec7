-- Records, their revisions, what is derived from the published one, the feed's counter and the memory of seeding.
-- Identifiers are compared by bytes (COLLATE "C"), so that pages of a list come in one order on every engine.

CREATE TABLE record (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    state TEXT NOT NULL CHECK (state IN ('draft', 'in_review', 'published', 'withdrawn')),
    head_revision BIGINT NOT NULL,
    published_revision BIGINT,
    seq BIGINT UNIQUE,
    signature TEXT,
    changed_at TIMESTAMPTZ NOT NULL
);

CREATE TABLE revision (
    record_id TEXT COLLATE "C" NOT NULL REFERENCES record (id),
    revision BIGINT NOT NULL CHECK (revision > 0),
    document_sha256 TEXT NOT NULL,
    annex_sha256 TEXT NOT NULL,
    actor TEXT NOT NULL,
    note TEXT,
    made_at TIMESTAMPTZ NOT NULL,
    document TEXT NOT NULL,
    annex TEXT NOT NULL,
    PRIMARY KEY (record_id, revision)
);

CREATE FUNCTION refuse_change_of_revision() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'a revision is never changed or deleted';
END
$$;

CREATE TRIGGER revision_is_not_changed BEFORE UPDATE OR DELETE ON revision
FOR EACH ROW EXECUTE FUNCTION refuse_change_of_revision();

CREATE TABLE alias (
    alias TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    record_id TEXT COLLATE "C" NOT NULL REFERENCES record (id)
);

CREATE INDEX alias_by_record ON alias (record_id);

CREATE TABLE code (
    record_id TEXT COLLATE "C" NOT NULL REFERENCES record (id),
    folded TEXT COLLATE "C" NOT NULL,
    written TEXT NOT NULL,
    PRIMARY KEY (record_id, folded)
);

CREATE INDEX code_by_text ON code (folded, record_id);

CREATE TABLE edge (
    from_id TEXT COLLATE "C" NOT NULL REFERENCES record (id),
    ordinal BIGINT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('leads_to', 'preceded_by', 'frequently_confused_with')),
    to_id TEXT COLLATE "C" NOT NULL,
    probability DOUBLE PRECISION,
    condition TEXT,
    distinction TEXT,
    typical_delay TEXT,
    PRIMARY KEY (from_id, ordinal)
);

-- By hash: a target is kept as text however long it is, and a B-tree takes 2,700 bytes at most.
CREATE INDEX edge_by_target ON edge USING hash (to_id);

CREATE TABLE counter (
    name TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    value BIGINT NOT NULL
);

INSERT INTO counter (name, value) VALUES ('feed', 0);

-- What each source gave last: the program's own records and imports by people do not overwrite each other.
CREATE TABLE seed_import (
    record_id TEXT COLLATE "C" NOT NULL REFERENCES record (id),
    source TEXT COLLATE "C" NOT NULL,
    sha256 TEXT,
    revision BIGINT,
    waiting_sha256 TEXT,
    waiting_since TIMESTAMPTZ,
    PRIMARY KEY (record_id, source)
);
