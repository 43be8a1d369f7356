-- What else the operator should know of a sync run, such as the number of skipped entries; empty if nothing.
ALTER TABLE sync_run ADD COLUMN note TEXT NOT NULL DEFAULT '';
