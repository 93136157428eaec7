-- Bundles of records that were taken in (`peerless kb update`), so that an older one is told.

CREATE TABLE bundle_taken (
    n INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    made_at TEXT NOT NULL,
    records INTEGER NOT NULL,
    key_id TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    taken_at TEXT NOT NULL
) STRICT;
