-- API tokens: the public part, the hash of the secret part, what the token may do.

CREATE TABLE token (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    secret_sha256 TEXT NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    scopes TEXT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    expires_at TIMESTAMPTZ,
    revoked_at TIMESTAMPTZ
);
