-- People. `password` is a hash, NULL until an invitation is taken up. Times are seconds since the epoch.
CREATE TABLE account (
    id TEXT PRIMARY KEY,
    email TEXT NOT NULL UNIQUE,
    password TEXT,
    created_at REAL NOT NULL,
    disabled_at REAL
) STRICT;

-- The one link of an account with which a password can be set, once.
CREATE TABLE link (
    account TEXT PRIMARY KEY REFERENCES account,
    digest BLOB NOT NULL UNIQUE,
    expires_at REAL NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE session (
    digest BLOB PRIMARY KEY,
    account TEXT NOT NULL REFERENCES account,
    created_at REAL NOT NULL,
    seen_at REAL NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX session_of_account ON session (account);

-- Keys that an operator made have no owner.
ALTER TABLE api_key ADD COLUMN owner TEXT REFERENCES account;
CREATE INDEX key_of_owner ON api_key (owner) WHERE owner IS NOT NULL;
