-- Sessions that a proxy's word began are told by their secret since they count with that word alone. Of a session only the hash is
-- kept, so that those from before cannot be told from others: all of them end.

DELETE FROM session;
