-- needs: 1
-- The models whose vectors are stored. The entries of all changes to `seq` of the log have a vector. `is_complete` is 1
-- once that was the end of the log. Until `until`, in seconds since the epoch, only `holder` writes vectors.
CREATE TABLE embedding_model (
    model text COLLATE "C" PRIMARY KEY,
    log text NOT NULL DEFAULT '',
    seq bigint NOT NULL DEFAULT 0,
    is_complete bigint NOT NULL DEFAULT 0,
    revision bigint NOT NULL DEFAULT 0,
    removed bigint NOT NULL DEFAULT 0,
    holder text NOT NULL,
    until double precision NOT NULL
);

-- The vectors of entries, a byte for each number, and the digests of the texts that the model has read.
CREATE TABLE embedding (
    model text COLLATE "C" NOT NULL,
    mcp_id text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    digest bytea NOT NULL,
    vector bytea NOT NULL,
    PRIMARY KEY (model, mcp_id)
);
CREATE INDEX embedding_revision ON embedding (model, revision);
