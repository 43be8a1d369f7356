-- Indexes for lists of the registry API: the names with a version, in order, and the names that changed since a time.
CREATE INDEX record_version ON record (version, name);
CREATE INDEX record_updated ON record (updated_at, name);
CREATE INDEX entry_updated ON entry (updated_at, name);
