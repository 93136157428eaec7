-- A fault may be over while what its report warned of beside it is not: then this says why the report is open all the same.

ALTER TABLE report ADD COLUMN only_warns TEXT;
