-- API tokens: the public part, the hash of the secret part, what the token may do.

CREATE TABLE token (
    id TEXT NOT NULL PRIMARY KEY,
    secret_sha256 TEXT NOT NULL,
    name TEXT NOT NULL,
    scopes TEXT NOT NULL,
    created_at TEXT NOT NULL,
    expires_at TEXT,
    revoked_at TEXT
) STRICT;
