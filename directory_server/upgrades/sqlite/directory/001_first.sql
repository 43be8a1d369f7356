-- One row for each version that a source published. `id` grows with every writing, so that it tells which came later.
CREATE TABLE record (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    source TEXT NOT NULL,
    version TEXT NOT NULL,
    latest INTEGER NOT NULL,
    deleted INTEGER NOT NULL,
    published_at REAL,
    fingerprint BLOB NOT NULL,
    body BLOB NOT NULL,
    UNIQUE (name, source, version)
) STRICT;

-- What is shown for a name. `shown` is a record's id, NULL for a tombstone; `seq` is the last change of it.
CREATE TABLE entry (
    mcp_id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    shown INTEGER,
    seq INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The ordered log. `total` is the number of entries shown after the change, so that nobody has to count them;
-- `at` is for people who read the log.
CREATE TABLE change (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL CHECK (kind IN ('added', 'changed', 'removed')),
    mcp_id TEXT NOT NULL,
    total INTEGER NOT NULL,
    at REAL NOT NULL DEFAULT ((julianday('now') - 2440587.5) * 86400.0)
) STRICT;

-- Times are seconds since the epoch. `quota` is requests in any 60 minutes, NULL for unlimited.
CREATE TABLE api_key (
    id TEXT PRIMARY KEY,
    label TEXT NOT NULL,
    quota INTEGER,
    created_at REAL NOT NULL,
    expires_at REAL,
    revoked_at REAL
) STRICT;

-- The secrets of a key: the current one, which has no `expires_at` of its own, and rotated ones in their grace.
CREATE TABLE secret (
    digest BLOB PRIMARY KEY,
    key_id TEXT NOT NULL REFERENCES api_key,
    last_four TEXT NOT NULL,
    created_at REAL NOT NULL,
    expires_at REAL
) STRICT;

CREATE UNIQUE INDEX current_secret ON secret (key_id) WHERE expires_at IS NULL;
