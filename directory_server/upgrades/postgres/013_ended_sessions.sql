-- needs: 1
-- Ended sessions, which a sign-in deletes.
CREATE INDEX session_seen ON session (seen_at);
CREATE INDEX session_created ON session (created_at);
-- The accounts and keys that commands list, in order.
CREATE INDEX account_ordinal ON account (ordinal);
CREATE INDEX api_key_ordinal ON api_key (ordinal);
