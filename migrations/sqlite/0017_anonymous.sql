-- What people write without a login, of all kinds, so that one quota and one room hold for all of it.

CREATE TABLE anonymous_entry (
    n INTEGER NOT NULL PRIMARY KEY,
    kind TEXT NOT NULL CHECK (kind IN ('suggestion', 'vote', 'lines')),
    -- What it is about: the id of a record; empty where it is about none.
    subject TEXT NOT NULL,
    body TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    -- Hash of the key of the link by which its writer takes it back.
    key_sha256 TEXT UNIQUE,
    written_at TEXT NOT NULL,
    expires_at TEXT NOT NULL
) STRICT;

CREATE INDEX anonymous_entry_by_kind ON anonymous_entry (kind, n);
CREATE INDEX anonymous_entry_by_end ON anonymous_entry (expires_at);

-- How much came from an address on a day. `source` is a hash of both, and nothing leads from it to an entry.
CREATE TABLE anonymous_quota (
    day TEXT NOT NULL,
    source TEXT NOT NULL,
    written INTEGER NOT NULL,
    PRIMARY KEY (day, source)
) STRICT;

INSERT INTO counter (name, value) VALUES ('anonymous', 0), ('anonymous_bytes', 0);
