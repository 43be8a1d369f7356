-- needs: 1
-- Indexes for lists of the registry API: the names with a version, in order, and the names that changed since a time.
CREATE INDEX record_version ON record (version, name);
CREATE INDEX record_updated ON record (updated_at, name);
CREATE INDEX entry_updated ON entry (updated_at, name);
-- The names of /admin/entries and of curated lists.
CREATE INDEX entry_curated ON entry (name) WHERE curated OR hidden;
-- The keys and accounts of the operator pages, in order.
CREATE INDEX api_key_listed ON api_key (created_at, id) WHERE revoked_at IS NULL;
CREATE INDEX account_listed ON account (created_at, id);
