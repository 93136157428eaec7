-- Why a record is published although the gate refused it; shown with the record.

ALTER TABLE record ADD COLUMN forced TEXT;
