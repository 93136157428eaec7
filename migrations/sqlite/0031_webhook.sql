-- What waits to be told to another program. A row goes when it is taken or given up; what is given up gets a row of the audit.
-- The counter `webhook` is the row of the audit up to which all are queued; it is made when a server with a webhook starts first.

CREATE TABLE delivery (
    id TEXT NOT NULL PRIMARY KEY,
    kind TEXT NOT NULL,
    -- JSON, as it is sent at every attempt.
    body TEXT NOT NULL,
    made_at TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    -- When the next attempt is due. A server that tries moves it on, which keeps others away meanwhile.
    due_at TEXT NOT NULL,
    failure TEXT
) STRICT;

CREATE INDEX delivery_due ON delivery (due_at, made_at, id);
CREATE INDEX delivery_oldest ON delivery (made_at, id);
