-- Tokens that publish entries; only their hashes are kept. `namespaces` is a JSON array. Times are seconds since the
-- epoch.
CREATE TABLE publisher_token (
    id TEXT PRIMARY KEY,
    label TEXT NOT NULL,
    namespaces TEXT NOT NULL,
    last_four TEXT NOT NULL,
    digest BLOB NOT NULL UNIQUE,
    created_at REAL NOT NULL,
    expires_at REAL,
    revoked_at REAL
) STRICT;

-- The audit log: what tokens published. It does not refer to the tokens, so that it outlives them.
CREATE TABLE publication (
    number INTEGER PRIMARY KEY,
    at REAL NOT NULL,
    token_id TEXT NOT NULL,
    label TEXT NOT NULL,
    action TEXT NOT NULL,
    name TEXT NOT NULL,
    version TEXT NOT NULL,
    network TEXT NOT NULL,
    outcome TEXT NOT NULL
) STRICT;

CREATE INDEX publication_at ON publication (at);
