-- A list of entries. With "is_all" it has all entries, else those that match "rule" and those of "list_pick".
-- "is_open": everybody may see it. Changes to "seq" were read for it; -1: its entries must be found again.
CREATE TABLE entry_list (
    name TEXT PRIMARY KEY,
    title TEXT NOT NULL,
    is_all INTEGER NOT NULL,
    is_open INTEGER NOT NULL,
    rule TEXT NOT NULL,
    created_at REAL NOT NULL,
    seq INTEGER NOT NULL DEFAULT -1
) STRICT, WITHOUT ROWID;

CREATE TABLE list_pick (
    list TEXT NOT NULL,
    name TEXT NOT NULL,
    PRIMARY KEY (list, name)
) STRICT, WITHOUT ROWID;

-- The entries of lists. With "left_at" an entry is no longer in it: it left it with this change.
CREATE TABLE list_entry (
    mcp_id TEXT NOT NULL,
    list TEXT NOT NULL,
    left_at INTEGER,
    PRIMARY KEY (mcp_id, list)
) STRICT, WITHOUT ROWID;

CREATE INDEX list_entry_list ON list_entry (list, mcp_id);

CREATE TABLE reader_group (
    name TEXT PRIMARY KEY,
    created_at REAL NOT NULL
) STRICT, WITHOUT ROWID;

-- The ids of accounts, of keys without an account, and of tokens of the registry API.
CREATE TABLE group_member (
    reader TEXT NOT NULL,
    group_name TEXT NOT NULL,
    PRIMARY KEY (reader, group_name)
) STRICT, WITHOUT ROWID;

-- Groups of issuers whose persons are members.
CREATE TABLE group_claim (
    issuer TEXT NOT NULL,
    value TEXT NOT NULL,
    group_name TEXT NOT NULL,
    PRIMARY KEY (issuer, value, group_name)
) STRICT, WITHOUT ROWID;

CREATE TABLE list_group (
    list TEXT NOT NULL,
    group_name TEXT NOT NULL,
    PRIMARY KEY (list, group_name)
) STRICT, WITHOUT ROWID;
