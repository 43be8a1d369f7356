-- needs: 1
-- Facts: who has proven a namespace, by the kind of the proof. Times are seconds since the epoch.
CREATE TABLE namespace_proof (
    namespace text COLLATE "C" NOT NULL,
    kind text NOT NULL,
    subject text NOT NULL,
    proven_at double precision NOT NULL,
    PRIMARY KEY (namespace, kind)
);
CREATE INDEX namespace_proof_at ON namespace_proof (proven_at);

-- Signed timestamps that were used, by a digest of key and timestamp, until the timestamp is too old.
CREATE TABLE used_proof (
    digest bytea PRIMARY KEY,
    expires_at double precision NOT NULL
);

-- The login that created a token; NULL for tokens of the operator.
ALTER TABLE publisher_token ADD COLUMN login text;
