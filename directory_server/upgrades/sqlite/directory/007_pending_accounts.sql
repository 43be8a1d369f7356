-- When the operator approved an account; NULL for one that registered by itself and is not approved. All accounts that
-- exist count as approved. `seen_at` is about when a session was last in use, NULL for never.
ALTER TABLE account ADD COLUMN approved_at REAL;
UPDATE account SET approved_at = created_at;
ALTER TABLE account ADD COLUMN seen_at REAL;
CREATE INDEX pending_account ON account (id) WHERE approved_at IS NULL;
