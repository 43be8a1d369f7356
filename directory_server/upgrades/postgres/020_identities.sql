-- needs: 1
-- Persons of issuers (OpenID Connect), by the digest of issuer and subject, and their accounts. `groups` is a JSON array
-- of the names that the last sign-in had. Times are seconds since the epoch.
CREATE TABLE identity (
    digest bytea PRIMARY KEY,
    account text COLLATE "C" NOT NULL REFERENCES account ON DELETE CASCADE,
    issuer text NOT NULL,
    groups text NOT NULL,
    created_at double precision NOT NULL,
    signed_in_at double precision NOT NULL
);
CREATE INDEX identity_of_account ON identity (account);

-- Whether a key is that of a subject: a client that sends access tokens of an issuer. The digest of its row in `secret`
-- is that of issuer and subject, which no secret has.
ALTER TABLE api_key ADD COLUMN is_subject boolean NOT NULL DEFAULT FALSE;
