-- With "holds_versions" an approved entry is on the list only with the document that was approved.
ALTER TABLE entry_list ADD COLUMN holds_versions INTEGER NOT NULL DEFAULT 0;

-- Those who decide on the requests for a list: ids of accounts, or names of groups. The other column is empty.
CREATE TABLE list_approver (
    list TEXT NOT NULL,
    reader TEXT NOT NULL,
    group_name TEXT NOT NULL,
    PRIMARY KEY (list, reader, group_name)
) STRICT, WITHOUT ROWID;

-- What was approved last of an entry for a list: its document, and the digest of that. `account` asked for it.
CREATE TABLE list_approval (
    list TEXT NOT NULL,
    name TEXT NOT NULL,
    version TEXT NOT NULL,
    digest TEXT NOT NULL,
    document BLOB NOT NULL,
    approved_at REAL NOT NULL,
    account TEXT,
    PRIMARY KEY (list, name)
) STRICT, WITHOUT ROWID;

-- Requests for entries on lists. `waits_for` is the digest of a new document of an approved entry, or empty. Times are
-- seconds since the epoch.
CREATE TABLE list_request (
    id TEXT PRIMARY KEY,
    list TEXT NOT NULL,
    name TEXT NOT NULL,
    account TEXT REFERENCES account (id) ON DELETE SET NULL,
    waits_for TEXT NOT NULL,
    state TEXT NOT NULL,
    created_at REAL NOT NULL,
    updated_at REAL NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX list_request_name ON list_request (name, list);
CREATE INDEX list_request_account ON list_request (account, updated_at);
CREATE INDEX list_request_open ON list_request (list, created_at) WHERE state IN ('open', 'asked');

CREATE TABLE list_request_event (
    request TEXT NOT NULL REFERENCES list_request (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    at REAL NOT NULL,
    kind TEXT NOT NULL,
    account TEXT,
    text TEXT NOT NULL,
    PRIMARY KEY (request, number)
) STRICT, WITHOUT ROWID;
