-- `confirmed`: whether an operator or an issuer has created the account, or an issuer has confirmed the address of one that
-- somebody registered. `renew_by`: until when it counts without another sign-in with an issuer, NULL for always. `links`:
-- the URL of an issuer of which one more person with the address may sign in to it, or NULL.
ALTER TABLE account ADD COLUMN confirmed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE account ADD COLUMN renew_by REAL;
ALTER TABLE account ADD COLUMN links TEXT;
CREATE INDEX renewed_account ON account (renew_by) WHERE renew_by IS NOT NULL;
CREATE TRIGGER owner_lapses AFTER UPDATE OF renew_by ON account
    WHEN coalesce(NEW.renew_by, 9e99) < coalesce(OLD.renew_by, 9e99) BEGIN UPDATE pulse SET keys = keys + 1; END;

-- `role`: what the issuer gives, NULL for none; that of the account is given by operators. `renew_by`: until when role and
-- groups count, NULL for always. `person`: who signed in, NULL for a password or a link.
ALTER TABLE identity ADD COLUMN role TEXT;
ALTER TABLE identity ADD COLUMN renew_by REAL;
ALTER TABLE session ADD COLUMN person BLOB REFERENCES identity ON DELETE CASCADE;
CREATE INDEX session_of_person ON session (person) WHERE person IS NOT NULL;

-- The one who registered an account before its first person signed in keeps no access.
UPDATE account SET confirmed = 1 WHERE approved_at <= created_at;
CREATE TEMP TABLE linked AS SELECT account.id, min(identity.created_at) AS at
    FROM account JOIN identity ON identity.account = account.id WHERE NOT confirmed GROUP BY account.id;
DELETE FROM session WHERE created_at < (SELECT at FROM linked WHERE id = account);
DELETE FROM link WHERE account IN (SELECT id FROM linked);
UPDATE api_key SET revoked_at = (SELECT at FROM linked WHERE id = owner)
    WHERE revoked_at IS NULL AND NOT is_subject AND created_at < (SELECT at FROM linked WHERE linked.id = owner);
UPDATE account SET password = NULL, confirmed = 1 WHERE id IN (SELECT id FROM linked);
DROP TABLE linked;

-- Secrets of other things than keys, too; `key_id` is their id. `shown_until` of webhooks is not used any more.
CREATE TABLE shown_secret (
    session BLOB NOT NULL, key_id TEXT NOT NULL, salt BLOB NOT NULL, sealed BLOB NOT NULL, rotated INTEGER NOT NULL,
    expires_at REAL NOT NULL, PRIMARY KEY (session, key_id)
) STRICT, WITHOUT ROWID;
INSERT INTO shown_secret SELECT session, key_id, salt, sealed, rotated, expires_at FROM new_secret;
DROP TABLE new_secret;
ALTER TABLE shown_secret RENAME TO new_secret;
