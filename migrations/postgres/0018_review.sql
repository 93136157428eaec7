-- Reviews of revisions, comments on their fields, and why a record was withdrawn. A record has one open review at most.

CREATE TABLE review (
    record_id TEXT COLLATE "C" NOT NULL REFERENCES record (id),
    n BIGINT NOT NULL,
    revision BIGINT NOT NULL,
    state TEXT COLLATE "C" NOT NULL CHECK (state IN ('open', 'approved', 'sent_back', 'withdrawn')),
    asked_kind TEXT COLLATE "C" NOT NULL,
    asked_id TEXT COLLATE "C" NOT NULL,
    asked_name TEXT NOT NULL,
    asked_at TIMESTAMPTZ NOT NULL,
    note TEXT,
    decided_name TEXT,
    decided_at TIMESTAMPTZ,
    reason TEXT,
    PRIMARY KEY (record_id, n)
);

CREATE UNIQUE INDEX review_open ON review (record_id) WHERE state = 'open';
CREATE INDEX review_waiting ON review (asked_at, record_id) WHERE state = 'open';

CREATE TABLE review_comment (
    record_id TEXT COLLATE "C" NOT NULL REFERENCES record (id),
    n BIGINT NOT NULL,
    revision BIGINT NOT NULL,
    part TEXT COLLATE "C" NOT NULL CHECK (part IN ('document', 'annex')),
    pointer TEXT COLLATE "C" NOT NULL,
    author TEXT NOT NULL,
    body TEXT NOT NULL,
    made_at TIMESTAMPTZ NOT NULL,
    resolved_by TEXT,
    resolved_at TIMESTAMPTZ,
    PRIMARY KEY (record_id, n)
);

ALTER TABLE record ADD COLUMN withdrawn_reason TEXT;
ALTER TABLE record ADD COLUMN replaced_by TEXT COLLATE "C";
