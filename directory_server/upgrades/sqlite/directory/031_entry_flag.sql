-- What features have found against entries. `reason` is a key of texts, `other` the name of the entry that it resembles,
-- '' for none. `since` is seconds since the epoch.
CREATE TABLE entry_flag (
    mcp_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    other TEXT NOT NULL DEFAULT '',
    reason TEXT NOT NULL,
    since REAL NOT NULL,
    PRIMARY KEY (mcp_id, kind, other)
) STRICT, WITHOUT ROWID;
