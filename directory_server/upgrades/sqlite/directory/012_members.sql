-- The client of the last use of a session. `network` is a network such as 192.0.2.0/24, not an address; `client` is the
-- name of a program. Both are empty if unknown.
ALTER TABLE session ADD COLUMN network TEXT NOT NULL DEFAULT '';
ALTER TABLE session ADD COLUMN client TEXT NOT NULL DEFAULT '';

-- The last use of each key. Times are seconds since the epoch.
CREATE TABLE key_use (
    key_id TEXT PRIMARY KEY REFERENCES api_key ON DELETE CASCADE,
    at REAL NOT NULL,
    network TEXT NOT NULL,
    client TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX key_use_at ON key_use (at);
