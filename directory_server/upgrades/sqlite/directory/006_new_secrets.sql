-- New secrets of keys that a session has not shown yet. `sealed` is encrypted under the session's own secret, which is
-- not kept. `session` is that secret's digest. Times are seconds since the epoch.
CREATE TABLE new_secret (
    session BLOB NOT NULL,
    key_id TEXT NOT NULL REFERENCES api_key ON DELETE CASCADE,
    salt BLOB NOT NULL,
    sealed BLOB NOT NULL,
    rotated INTEGER NOT NULL,
    expires_at REAL NOT NULL,
    PRIMARY KEY (session, key_id)
) STRICT, WITHOUT ROWID;
