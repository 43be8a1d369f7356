-- The limit of new keys of an account, in requests per 60 minutes; NULL for that of the setting quota.limit.
ALTER TABLE account ADD COLUMN key_limit INTEGER;

-- The last request of each account for a larger limit. `granted` is NULL for a request that was declined, and for one
-- that is open, which has no `decided_at`. Times are seconds since the epoch.
CREATE TABLE quota_request (
    account TEXT PRIMARY KEY REFERENCES account (id) ON DELETE CASCADE,
    wanted INTEGER NOT NULL,
    reason TEXT NOT NULL,
    requested_at REAL NOT NULL,
    decided_at REAL,
    granted INTEGER
) STRICT;
CREATE INDEX quota_request_open ON quota_request (requested_at, account) WHERE decided_at IS NULL;
