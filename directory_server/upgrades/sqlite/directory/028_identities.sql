-- Persons of issuers (OpenID Connect), by the digest of issuer and subject, and their accounts. `groups` is a JSON array
-- of the names that the last sign-in had. Times are seconds since the epoch.
CREATE TABLE identity (
    digest BLOB PRIMARY KEY,
    account TEXT NOT NULL REFERENCES account ON DELETE CASCADE,
    issuer TEXT NOT NULL,
    groups TEXT NOT NULL,
    created_at REAL NOT NULL,
    signed_in_at REAL NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX identity_of_account ON identity (account);

-- Whether a key is that of a subject: a client that sends access tokens of an issuer. The digest of its row in `secret`
-- is that of issuer and subject, which no secret has.
ALTER TABLE api_key ADD COLUMN is_subject INTEGER NOT NULL DEFAULT 0;
