-- When a record took its seq, that is, when readers saw it published or withdrawn: a newer draft does not move it.

ALTER TABLE record ADD COLUMN seq_at TIMESTAMPTZ;

-- So far the time of the last change was kept. Where that was a draft, the published revision is as old as its making at least.
UPDATE record SET seq_at = CASE
    WHEN head_revision <> published_revision AND changed_at =
        (SELECT made_at FROM revision WHERE record_id = record.id AND revision = record.head_revision)
    THEN (SELECT made_at FROM revision WHERE record_id = record.id AND revision = record.published_revision)
    ELSE changed_at
END
WHERE seq IS NOT NULL;
