-- A voter is a kind and an id: a person (by a session, or a token of one's own), or a token without an owner. A vote says what
-- came of the action, and may be completed when the error came back.

CREATE TABLE vote (
    record_id TEXT COLLATE "C" NOT NULL REFERENCES record (id),
    -- Hash of kind and text: an edit moves no vote to another action.
    action_sha256 TEXT COLLATE "C" NOT NULL,
    -- In lower case; empty where none was told.
    model TEXT COLLATE "C" NOT NULL,
    voter_kind TEXT COLLATE "C" NOT NULL CHECK (voter_kind IN ('person', 'token')),
    voter_id TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL CHECK (kind IN ('workaround', 'dead_end')),
    action TEXT NOT NULL,
    -- Where the action stood in the revision; not known of votes from before.
    position BIGINT,
    environment TEXT NOT NULL,
    -- Empty where none was told.
    driver TEXT NOT NULL,
    revision BIGINT NOT NULL,
    outcome TEXT COLLATE "C" NOT NULL CHECK (outcome IN ('worked', 'did_not_help', 'came_back')),
    reported_at TIMESTAMPTZ NOT NULL,
    seq BIGINT NOT NULL,
    PRIMARY KEY (record_id, action_sha256, model, voter_kind, voter_id)
);

INSERT INTO vote (record_id, action_sha256, model, voter_kind, voter_id, kind, action, position, environment, driver, revision,
    outcome, reported_at, seq)
SELECT DISTINCT ON (o.record_id, o.action_sha256, o.model, voter_kind, voter_id)
    o.record_id, o.action_sha256, o.model, CASE WHEN t.person_id IS NULL THEN 'token' ELSE 'person' END AS voter_kind,
    coalesce(t.person_id, t.id) AS voter_id, o.kind, o.action, NULL::BIGINT, o.environment,
    coalesce(o.environment::json ->> 'driver', ''), o.revision,
    CASE WHEN o.worked THEN 'worked' ELSE 'did_not_help' END, o.reported_at, 1
FROM outcome o JOIN token t ON t.id = o.reporter
ORDER BY o.record_id, o.action_sha256, o.model, voter_kind, voter_id, o.reported_at DESC;

DROP TABLE outcome;
CREATE INDEX vote_by_seq ON vote (seq, record_id);

-- What editors are to read: suggestions of corrections, and votes that count in no share.
CREATE TABLE feedback (
    n BIGINT NOT NULL PRIMARY KEY,
    kind TEXT COLLATE "C" NOT NULL CHECK (kind IN ('suggestion', 'vote')),
    record_id TEXT COLLATE "C" NOT NULL REFERENCES record (id),
    revision BIGINT NOT NULL,
    voter_kind TEXT COLLATE "C" NOT NULL CHECK (voter_kind IN ('person', 'token', 'anonymous', 'assistant')),
    voter_id TEXT COLLATE "C" NOT NULL,
    voter_name TEXT NOT NULL,
    -- What a second vote of the same voter takes the place of; empty of suggestions.
    topic TEXT COLLATE "C" NOT NULL,
    -- NULL: it stands in the room of anonymous writing, and goes with it.
    body TEXT,
    anonymous_n BIGINT UNIQUE REFERENCES anonymous_entry (n) ON DELETE CASCADE,
    written_at TIMESTAMPTZ NOT NULL,
    state TEXT COLLATE "C" NOT NULL CHECK (state IN ('waiting', 'taken', 'ignored')),
    decided_name TEXT,
    decided_at TIMESTAMPTZ,
    reason TEXT,
    CHECK ((body IS NULL) = (anonymous_n IS NOT NULL))
);

CREATE INDEX feedback_by_state ON feedback (state, n);
CREATE INDEX feedback_of_voter ON feedback (voter_kind, voter_id, state);

INSERT INTO counter (name, value) VALUES ('vote', 1), ('feedback', 0);
