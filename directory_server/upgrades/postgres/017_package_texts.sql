-- needs: 1
-- The texts of packages, in JSON, by their digests. Targets and verifications of several entries may have the same ones.
CREATE TABLE package_texts (
    id text COLLATE "C" PRIMARY KEY,
    body bytea NOT NULL
);

-- The texts of a target's package, and those that the index holds of an entry; NULL for none.
ALTER TABLE target ADD COLUMN texts text COLLATE "C";
ALTER TABLE verification ADD COLUMN texts text COLLATE "C";

CREATE INDEX target_texts ON target (texts) WHERE texts IS NOT NULL;
