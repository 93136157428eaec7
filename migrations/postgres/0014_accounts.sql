-- People, their sessions, and whose a token is.

-- `login_folded` is the login without case. `issuer` and `subject` name the person at a provider of OpenID Connect.
CREATE TABLE person (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    login TEXT NOT NULL,
    login_folded TEXT COLLATE "C" NOT NULL UNIQUE,
    name TEXT NOT NULL,
    role TEXT COLLATE "C" NOT NULL CHECK (role IN ('viewer', 'contributor', 'editor', 'admin')),
    operator BOOLEAN NOT NULL,
    password_hash TEXT,
    issuer TEXT COLLATE "C",
    subject TEXT COLLATE "C",
    created_at TIMESTAMPTZ NOT NULL,
    disabled_at TIMESTAMPTZ,
    UNIQUE (issuer, subject),
    CHECK ((issuer IS NULL) = (subject IS NULL))
);

-- `id` is the SHA-256 of the secret that the browser holds. Role and operator are those of the person at the login.
CREATE TABLE session (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    person_id TEXT COLLATE "C" NOT NULL REFERENCES person (id),
    csrf TEXT COLLATE "C" NOT NULL,
    role TEXT COLLATE "C" NOT NULL,
    operator BOOLEAN NOT NULL,
    made_at TIMESTAMPTZ NOT NULL,
    seen_at TIMESTAMPTZ NOT NULL,
    idle_ends_at TIMESTAMPTZ NOT NULL,
    ends_at TIMESTAMPTZ NOT NULL,
    address TEXT COLLATE "C",
    user_agent TEXT
);

CREATE INDEX session_of_person ON session (person_id, made_at);

-- Keys of the links that make the first administrator; only their hashes.
CREATE TABLE first_admin_key (
    key_sha256 TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    ends_at TIMESTAMPTZ NOT NULL
);

-- Whose the token is; `NULL`: the system's.
ALTER TABLE token ADD COLUMN person_id TEXT COLLATE "C" REFERENCES person (id);

CREATE INDEX token_of_person ON token (person_id) WHERE person_id IS NOT NULL;

-- Counted up by each change of a person, so that two changes wait for each other.
INSERT INTO counter (name, value) VALUES ('person', 0);
