-- Tokens that stand in the paths by which editors read the registry API; only their hashes are kept.
CREATE TABLE registry_token (
    id TEXT PRIMARY KEY,
    label TEXT NOT NULL,
    last_four TEXT NOT NULL,
    digest BLOB NOT NULL UNIQUE,
    created_at REAL NOT NULL,
    revoked_at REAL
) STRICT;
