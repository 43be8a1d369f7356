-- Reports of readers about entries. `mcp_id`, `server_name` and `version` are those of the entry at that time. Times are
-- seconds since the epoch.
CREATE TABLE report (
    id TEXT PRIMARY KEY,
    mcp_id TEXT NOT NULL,
    server_name TEXT NOT NULL,
    version TEXT NOT NULL,
    reason TEXT NOT NULL,
    text TEXT NOT NULL,
    reported_at REAL NOT NULL,
    closed_at REAL
) STRICT;
