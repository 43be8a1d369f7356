-- The models whose vectors are stored. The entries of all changes to `seq` of the log have a vector. `is_complete` is 1
-- once that was the end of the log. Until `until`, in seconds since the epoch, only `holder` writes vectors.
CREATE TABLE embedding_model (
    model TEXT PRIMARY KEY,
    log TEXT NOT NULL DEFAULT '',
    seq INTEGER NOT NULL DEFAULT 0,
    is_complete INTEGER NOT NULL DEFAULT 0,
    revision INTEGER NOT NULL DEFAULT 0,
    removed INTEGER NOT NULL DEFAULT 0,
    holder TEXT NOT NULL,
    until REAL NOT NULL
) STRICT, WITHOUT ROWID;

-- The vectors of entries, a byte for each number, and the digests of the texts that the model has read.
CREATE TABLE embedding (
    model TEXT NOT NULL,
    mcp_id TEXT NOT NULL,
    revision INTEGER NOT NULL,
    digest BLOB NOT NULL,
    vector BLOB NOT NULL,
    PRIMARY KEY (model, mcp_id)
) STRICT;
CREATE INDEX embedding_revision ON embedding (model, revision);
