-- Who did what, when and from where. Rows are added in the transaction of what they tell of, and never change.

CREATE TABLE audit (
    n INTEGER NOT NULL PRIMARY KEY,
    at TEXT NOT NULL,
    actor_kind TEXT NOT NULL CHECK (actor_kind IN ('person', 'token', 'system')),
    actor_id TEXT NOT NULL,
    actor_name TEXT NOT NULL,
    address TEXT,
    action TEXT NOT NULL,
    subject TEXT NOT NULL,
    from_revision INTEGER,
    to_revision INTEGER,
    detail TEXT NOT NULL
) STRICT;

CREATE INDEX audit_by_actor ON audit (actor_id, n);
CREATE INDEX audit_by_action ON audit (action, n);
CREATE INDEX audit_by_subject ON audit (subject, n);

CREATE TRIGGER audit_is_not_changed BEFORE UPDATE ON audit
BEGIN
    SELECT RAISE(ABORT, 'the audit is never changed');
END;

CREATE TRIGGER audit_is_not_deleted BEFORE DELETE ON audit
BEGIN
    SELECT RAISE(ABORT, 'the audit is never deleted');
END;

INSERT INTO counter (name, value) VALUES ('audit', 0);
