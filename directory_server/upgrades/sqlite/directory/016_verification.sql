-- The remotes and packages of entries that are checked, by the digest of their fields. `body` is the target in JSON.
-- Times are seconds since the epoch. `holder` has the lease of a check until `held_until`. `state` is what is known of
-- the target, in JSON; NULL before the first check.
CREATE TABLE target (
    id TEXT PRIMARY KEY,
    mcp_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    host TEXT NOT NULL,
    body BLOB NOT NULL,
    due_at REAL NOT NULL,
    holder TEXT NOT NULL DEFAULT '',
    held_until REAL NOT NULL DEFAULT 0,
    state BLOB
) STRICT;

CREATE INDEX target_mcp_id ON target (mcp_id);
CREATE INDEX target_due ON target (kind, due_at);
CREATE INDEX target_held ON target (holder) WHERE holder <> '';

-- The verification of entries, in JSON: `summary`, and what the index holds of it, NULL if that is nothing. `revision`
-- grows with every writing.
CREATE TABLE verification (
    mcp_id TEXT PRIMARY KEY,
    revision INTEGER NOT NULL UNIQUE,
    summary BLOB NOT NULL,
    indexed BLOB
) STRICT, WITHOUT ROWID;

-- How far targets have been derived from the change log, and the lease of the process that does it. It has at most one row.
CREATE TABLE verification_plan (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    seq INTEGER NOT NULL DEFAULT 0,
    selection TEXT NOT NULL DEFAULT '',
    holder TEXT NOT NULL DEFAULT '',
    held_until REAL NOT NULL DEFAULT 0
) STRICT;
