-- Bundles of records that were taken in (`peerless kb update`), so that an older one is told.

CREATE TABLE bundle_taken (
    n BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    made_at TIMESTAMPTZ NOT NULL,
    records BIGINT NOT NULL,
    key_id TEXT COLLATE "C" NOT NULL,
    sha256 TEXT COLLATE "C" NOT NULL,
    taken_at TIMESTAMPTZ NOT NULL
);
