-- A voter is a kind and an id: a person (by a session, or a token of one's own), or a token without an owner. A vote says what
-- came of the action, and may be completed when the error came back.

CREATE TABLE vote (
    record_id TEXT NOT NULL REFERENCES record (id),
    -- Hash of kind and text: an edit moves no vote to another action.
    action_sha256 TEXT NOT NULL,
    -- In lower case; empty where none was told.
    model TEXT NOT NULL,
    voter_kind TEXT NOT NULL CHECK (voter_kind IN ('person', 'token')),
    voter_id TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('workaround', 'dead_end')),
    action TEXT NOT NULL,
    -- Where the action stood in the revision; not known of votes from before.
    position INTEGER,
    environment TEXT NOT NULL,
    -- Empty where none was told.
    driver TEXT NOT NULL,
    revision INTEGER NOT NULL,
    outcome TEXT NOT NULL CHECK (outcome IN ('worked', 'did_not_help', 'came_back')),
    reported_at TEXT NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (record_id, action_sha256, model, voter_kind, voter_id)
) STRICT;

INSERT OR REPLACE INTO vote (record_id, action_sha256, model, voter_kind, voter_id, kind, action, position, environment, driver,
    revision, outcome, reported_at, seq)
SELECT o.record_id, o.action_sha256, o.model, CASE WHEN t.person_id IS NULL THEN 'token' ELSE 'person' END,
    coalesce(t.person_id, t.id), o.kind, o.action, NULL, o.environment, coalesce(json_extract(o.environment, '$.driver'), ''),
    o.revision, CASE WHEN o.worked THEN 'worked' ELSE 'did_not_help' END, o.reported_at, 1
FROM outcome o JOIN token t ON t.id = o.reporter ORDER BY o.reported_at;

DROP TABLE outcome;
CREATE INDEX vote_by_seq ON vote (seq, record_id);

-- What editors are to read: suggestions of corrections, and votes that count in no share.
CREATE TABLE feedback (
    n INTEGER NOT NULL PRIMARY KEY,
    kind TEXT NOT NULL CHECK (kind IN ('suggestion', 'vote')),
    record_id TEXT NOT NULL REFERENCES record (id),
    revision INTEGER NOT NULL,
    voter_kind TEXT NOT NULL CHECK (voter_kind IN ('person', 'token', 'anonymous', 'assistant')),
    voter_id TEXT NOT NULL,
    voter_name TEXT NOT NULL,
    -- What a second vote of the same voter takes the place of; empty of suggestions.
    topic TEXT NOT NULL,
    -- NULL: it stands in the room of anonymous writing, and goes with it.
    body TEXT,
    anonymous_n INTEGER UNIQUE REFERENCES anonymous_entry (n) ON DELETE CASCADE,
    written_at TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('waiting', 'taken', 'ignored')),
    decided_name TEXT,
    decided_at TEXT,
    reason TEXT,
    CHECK ((body IS NULL) = (anonymous_n IS NOT NULL))
) STRICT;

CREATE INDEX feedback_by_state ON feedback (state, n);
CREATE INDEX feedback_of_voter ON feedback (voter_kind, voter_id, state);

INSERT INTO counter (name, value) VALUES ('vote', 1), ('feedback', 0);
