-- People, their sessions, and whose a token is.

-- `login_folded` is the login without case. `issuer` and `subject` name the person at a provider of OpenID Connect.
CREATE TABLE person (
    id TEXT NOT NULL PRIMARY KEY,
    login TEXT NOT NULL,
    login_folded TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    role TEXT NOT NULL CHECK (role IN ('viewer', 'contributor', 'editor', 'admin')),
    operator INTEGER NOT NULL CHECK (operator IN (0, 1)),
    password_hash TEXT,
    issuer TEXT,
    subject TEXT,
    created_at TEXT NOT NULL,
    disabled_at TEXT,
    UNIQUE (issuer, subject),
    CHECK ((issuer IS NULL) = (subject IS NULL))
) STRICT;

-- `id` is the SHA-256 of the secret that the browser holds. Role and operator are those of the person at the login.
CREATE TABLE session (
    id TEXT NOT NULL PRIMARY KEY,
    person_id TEXT NOT NULL REFERENCES person (id),
    csrf TEXT NOT NULL,
    role TEXT NOT NULL,
    operator INTEGER NOT NULL CHECK (operator IN (0, 1)),
    made_at TEXT NOT NULL,
    seen_at TEXT NOT NULL,
    idle_ends_at TEXT NOT NULL,
    ends_at TEXT NOT NULL,
    address TEXT,
    user_agent TEXT
) STRICT;

CREATE INDEX session_of_person ON session (person_id, made_at);

-- Keys of the links that make the first administrator; only their hashes.
CREATE TABLE first_admin_key (
    key_sha256 TEXT NOT NULL PRIMARY KEY,
    ends_at TEXT NOT NULL
) STRICT;

-- Whose the token is; `NULL`: the system's.
ALTER TABLE token ADD COLUMN person_id TEXT REFERENCES person (id);

CREATE INDEX token_of_person ON token (person_id) WHERE person_id IS NOT NULL;

-- Counted up by each change of a person, so that two changes wait for each other.
INSERT INTO counter (name, value) VALUES ('person', 0);
