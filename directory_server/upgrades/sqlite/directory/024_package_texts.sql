-- The texts of packages, in JSON, by their digests. Targets and verifications of several entries may have the same ones.
CREATE TABLE package_texts (
    id TEXT PRIMARY KEY,
    body BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- The texts of a target's package, and those that the index holds of an entry; NULL for none.
ALTER TABLE target ADD COLUMN texts TEXT;
ALTER TABLE verification ADD COLUMN texts TEXT;

CREATE INDEX target_texts ON target (texts) WHERE texts IS NOT NULL;
