-- needs: 0
CREATE TABLE reader_group (
    name text COLLATE "C" PRIMARY KEY,
    created_at double precision NOT NULL
) WITHOUT ROWID;

-- The ids of accounts, of keys without an account, and of tokens of the registry API.
CREATE TABLE group_member (
    reader text COLLATE "C" NOT NULL,
    group_name text COLLATE "C" NOT NULL,
    PRIMARY KEY (reader, group_name)
) WITHOUT ROWID;

-- Groups of issuers whose persons are members.
CREATE TABLE group_claim (
    issuer text COLLATE "C" NOT NULL,
    value text COLLATE "C" NOT NULL,
    group_name text COLLATE "C" NOT NULL,
    PRIMARY KEY (issuer, value, group_name)
) WITHOUT ROWID;

CREATE TABLE list_group (
    list text COLLATE "C" NOT NULL,
    group_name text COLLATE "C" NOT NULL,
    PRIMARY KEY (list, group_name)
) WITHOUT ROWID;

-- Those who decide on the requests for a list: ids of accounts, or names of groups. The other column is empty.
CREATE TABLE list_approver (
    list text COLLATE "C" NOT NULL,
    reader text COLLATE "C" NOT NULL,
    group_name text COLLATE "C" NOT NULL,
    PRIMARY KEY (list, reader, group_name)
) WITHOUT ROWID;

-- Requests for entries on lists. `waits_for` is the digest of a new document of an approved entry, or empty. Times are
-- seconds since the epoch.
CREATE TABLE list_request (
    id text COLLATE "C" PRIMARY KEY,
    list text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    account text COLLATE "C" REFERENCES account (id) ON DELETE SET NULL,
    waits_for text NOT NULL,
    state text NOT NULL,
    created_at double precision NOT NULL,
    updated_at double precision NOT NULL
) WITHOUT ROWID;
CREATE INDEX list_request_name ON list_request (name, list);
CREATE INDEX list_request_account ON list_request (account, updated_at);
CREATE INDEX list_request_open ON list_request (list, created_at) WHERE state IN ('open', 'asked');

CREATE TABLE list_request_event (
    request text COLLATE "C" NOT NULL REFERENCES list_request (id) ON DELETE CASCADE,
    number bigint NOT NULL,
    at double precision NOT NULL,
    kind text NOT NULL,
    account text COLLATE "C",
    text text NOT NULL,
    PRIMARY KEY (request, number)
) WITHOUT ROWID;
