-- Reviews of revisions, comments on their fields, and why a record was withdrawn. A record has one open review at most.

CREATE TABLE review (
    record_id TEXT NOT NULL REFERENCES record (id),
    n INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('open', 'approved', 'sent_back', 'withdrawn')),
    asked_kind TEXT NOT NULL,
    asked_id TEXT NOT NULL,
    asked_name TEXT NOT NULL,
    asked_at TEXT NOT NULL,
    note TEXT,
    decided_name TEXT,
    decided_at TEXT,
    reason TEXT,
    PRIMARY KEY (record_id, n)
) STRICT;

CREATE UNIQUE INDEX review_open ON review (record_id) WHERE state = 'open';
CREATE INDEX review_waiting ON review (asked_at, record_id) WHERE state = 'open';

CREATE TABLE review_comment (
    record_id TEXT NOT NULL REFERENCES record (id),
    n INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    part TEXT NOT NULL CHECK (part IN ('document', 'annex')),
    pointer TEXT NOT NULL,
    author TEXT NOT NULL,
    body TEXT NOT NULL,
    made_at TEXT NOT NULL,
    resolved_by TEXT,
    resolved_at TEXT,
    PRIMARY KEY (record_id, n)
) STRICT;

ALTER TABLE record ADD COLUMN withdrawn_reason TEXT;
ALTER TABLE record ADD COLUMN replaced_by TEXT;
