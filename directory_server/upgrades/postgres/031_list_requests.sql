-- needs: 1
-- With "holds_versions" an approved entry is on the list only with the document that was approved.
ALTER TABLE entry_list ADD COLUMN holds_versions boolean NOT NULL DEFAULT FALSE;

-- Those who decide on the requests for a list: ids of accounts, or names of groups. The other column is empty.
CREATE TABLE list_approver (
    list text COLLATE "C" NOT NULL,
    reader text COLLATE "C" NOT NULL,
    group_name text COLLATE "C" NOT NULL,
    PRIMARY KEY (list, reader, group_name)
);

-- What was approved last of an entry for a list: its document, and the digest of that. `account` asked for it.
CREATE TABLE list_approval (
    list text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    version text NOT NULL,
    digest text NOT NULL,
    document bytea NOT NULL,
    approved_at double precision NOT NULL,
    account text COLLATE "C",
    PRIMARY KEY (list, name)
);

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
);
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
);
