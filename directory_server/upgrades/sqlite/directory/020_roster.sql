-- Indexes for the lists of the operator pages: keys that are not revoked, and accounts, the newest first.
CREATE INDEX key_listed ON api_key (created_at, id) WHERE revoked_at IS NULL;
CREATE INDEX account_listed ON account (created_at, id);
-- The secrets of a key, which a rotation ends, and which a deletion of the key looks for.
CREATE INDEX secret_of_key ON secret (key_id);
