-- needs: 0
-- The last request of each account for a larger limit. `granted` is NULL for a request that was declined, and for one
-- that is open, which has no `decided_at`. Times are seconds since the epoch.
CREATE TABLE quota_request (
    account text COLLATE "C" PRIMARY KEY REFERENCES account (id) ON DELETE CASCADE,
    wanted bigint NOT NULL,
    reason text NOT NULL,
    requested_at double precision NOT NULL,
    decided_at double precision,
    granted bigint
);
CREATE INDEX quota_request_open ON quota_request (requested_at, account) WHERE decided_at IS NULL;
