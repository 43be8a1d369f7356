-- needs: 1
-- What features have found against entries. `reason` is a key of texts, `other` the name of the entry that it resembles,
-- '' for none. `since` is seconds since the epoch.
CREATE TABLE entry_flag (
    mcp_id text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    other text COLLATE "C" NOT NULL DEFAULT '',
    reason text NOT NULL,
    since double precision NOT NULL,
    PRIMARY KEY (mcp_id, kind, other)
);
