-- Who did what, when and from where. Rows are added in the transaction of what they tell of, and never change.

CREATE TABLE audit (
    n BIGINT NOT NULL PRIMARY KEY,
    at TIMESTAMPTZ NOT NULL,
    actor_kind TEXT COLLATE "C" NOT NULL CHECK (actor_kind IN ('person', 'token', 'system')),
    actor_id TEXT COLLATE "C" NOT NULL,
    actor_name TEXT COLLATE "C" NOT NULL,
    address TEXT COLLATE "C",
    action TEXT COLLATE "C" NOT NULL,
    subject TEXT COLLATE "C" NOT NULL,
    from_revision BIGINT,
    to_revision BIGINT,
    detail TEXT NOT NULL
);

CREATE INDEX audit_by_actor ON audit (actor_id, n);
CREATE INDEX audit_by_action ON audit (action, n);
CREATE INDEX audit_by_subject ON audit (subject, n);

CREATE FUNCTION refuse_change_of_audit() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the audit is never changed or deleted';
END
$$;

CREATE TRIGGER audit_is_not_changed BEFORE UPDATE OR DELETE ON audit
FOR EACH ROW EXECUTE FUNCTION refuse_change_of_audit();

CREATE TRIGGER audit_is_not_emptied BEFORE TRUNCATE ON audit
FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_audit();

INSERT INTO counter (name, value) VALUES ('audit', 0);
