-- What people write without a login, of all kinds, so that one quota and one room hold for all of it.

CREATE TABLE anonymous_entry (
    n BIGINT NOT NULL PRIMARY KEY,
    kind TEXT COLLATE "C" NOT NULL CHECK (kind IN ('suggestion', 'vote', 'lines')),
    -- What it is about: the id of a record; empty where it is about none.
    subject TEXT COLLATE "C" NOT NULL,
    body TEXT NOT NULL,
    bytes BIGINT NOT NULL,
    -- Hash of the key of the link by which its writer takes it back.
    key_sha256 TEXT COLLATE "C" UNIQUE,
    written_at TIMESTAMPTZ NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL
);

CREATE INDEX anonymous_entry_by_kind ON anonymous_entry (kind, n);
CREATE INDEX anonymous_entry_by_end ON anonymous_entry (expires_at);

-- How much came from an address on a day. `source` is a hash of both, and nothing leads from it to an entry.
CREATE TABLE anonymous_quota (
    day TEXT COLLATE "C" NOT NULL,
    source TEXT COLLATE "C" NOT NULL,
    written BIGINT NOT NULL,
    PRIMARY KEY (day, source)
);

INSERT INTO counter (name, value) VALUES ('anonymous', 0), ('anonymous_bytes', 0);
