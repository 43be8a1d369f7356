-- Facts: who has proven a namespace, by the kind of the proof. Times are seconds since the epoch.
CREATE TABLE namespace_proof (
    namespace TEXT NOT NULL,
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,
    proven_at REAL NOT NULL,
    PRIMARY KEY (namespace, kind)
) STRICT, WITHOUT ROWID;
CREATE INDEX namespace_proof_at ON namespace_proof (proven_at);

-- Signed timestamps that were used, by a digest of key and timestamp, until the timestamp is too old.
CREATE TABLE used_proof (
    digest BLOB PRIMARY KEY,
    expires_at REAL NOT NULL
) STRICT, WITHOUT ROWID;

-- The login that created a token; NULL for tokens of the operator.
ALTER TABLE publisher_token ADD COLUMN login TEXT;
