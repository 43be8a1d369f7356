-- needs: 1
-- A list of entries. With "is_all" it has all entries, else those that match "rule" and those of "list_pick".
-- "is_open": everybody may see it. Changes to "seq" were read for it; -1: its entries must be found again.
CREATE TABLE entry_list (
    name text COLLATE "C" PRIMARY KEY,
    title text NOT NULL,
    is_all boolean NOT NULL,
    is_open boolean NOT NULL,
    rule text NOT NULL,
    created_at double precision NOT NULL,
    seq bigint NOT NULL DEFAULT -1
);

CREATE TABLE list_pick (
    list text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    PRIMARY KEY (list, name)
);

-- The entries of lists. With "left_at" an entry is no longer in it: it left it with this change.
CREATE TABLE list_entry (
    mcp_id text COLLATE "C" NOT NULL,
    list text COLLATE "C" NOT NULL,
    left_at bigint,
    PRIMARY KEY (mcp_id, list)
);

CREATE INDEX list_entry_list ON list_entry (list, mcp_id);

CREATE TABLE reader_group (
    name text COLLATE "C" PRIMARY KEY,
    created_at double precision NOT NULL
);

-- The ids of accounts, of keys without an account, and of tokens of the registry API.
CREATE TABLE group_member (
    reader text COLLATE "C" NOT NULL,
    group_name text COLLATE "C" NOT NULL,
    PRIMARY KEY (reader, group_name)
);

-- Groups of issuers whose persons are members.
CREATE TABLE group_claim (
    issuer text COLLATE "C" NOT NULL,
    value text COLLATE "C" NOT NULL,
    group_name text COLLATE "C" NOT NULL,
    PRIMARY KEY (issuer, value, group_name)
);

CREATE TABLE list_group (
    list text COLLATE "C" NOT NULL,
    group_name text COLLATE "C" NOT NULL,
    PRIMARY KEY (list, group_name)
);
