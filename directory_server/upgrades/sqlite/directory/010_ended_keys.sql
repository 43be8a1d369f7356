-- Indexes for the keys that ended a short time ago, which every process reads after each change.
CREATE INDEX revoked_key ON api_key (revoked_at) WHERE revoked_at IS NOT NULL;
CREATE INDEX expiring_key ON api_key (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX disabled_account ON account (disabled_at) WHERE disabled_at IS NOT NULL;
