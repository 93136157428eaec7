-- What a review asks for is kept with it: that the revision is published, or that the record is withdrawn or merged, and
-- which other one takes its place.

ALTER TABLE review ADD COLUMN asks TEXT COLLATE "C" NOT NULL DEFAULT 'publish' CHECK (asks IN ('publish', 'withdraw', 'merge'));
ALTER TABLE review ADD COLUMN replaced_by TEXT COLLATE "C";

UPDATE review SET asks = 'withdraw' WHERE state = 'open' AND EXISTS (
    SELECT 1 FROM record r
    WHERE r.id = review.record_id AND r.state = 'published' AND r.published_revision = review.revision
);

-- Another revision was published since it was asked: what was asked for nobody can tell any more.
UPDATE review SET state = 'withdrawn', decided_name = 'upgrade', decided_at = asked_at
WHERE state = 'open' AND asks = 'publish' AND EXISTS (
    SELECT 1 FROM record r WHERE r.id = review.record_id AND r.state = 'published' AND r.published_revision >= review.revision
);
