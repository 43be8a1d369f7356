-- needs: 1
-- `confirmed`: whether an operator or an issuer has created the account, or an issuer has confirmed the address of one that
-- somebody registered. `renew_by`: until when it counts without another sign-in with an issuer, NULL for always. `links`:
-- the URL of an issuer of which one more person with the address may sign in to it, or NULL.
ALTER TABLE account ADD COLUMN confirmed boolean NOT NULL DEFAULT FALSE;
ALTER TABLE account ADD COLUMN renew_by double precision;
ALTER TABLE account ADD COLUMN links text;
CREATE INDEX account_renewed ON account (renew_by) WHERE renew_by IS NOT NULL;

-- `role`: what the issuer gives, NULL for none; that of the account is given by operators. `renew_by`: until when role and
-- groups count, NULL for always. `person`: who signed in, NULL for a password or a link.
ALTER TABLE identity ADD COLUMN role text;
ALTER TABLE identity ADD COLUMN renew_by double precision;
ALTER TABLE session ADD COLUMN person bytea REFERENCES identity ON DELETE CASCADE;
CREATE INDEX session_of_person ON session (person) WHERE person IS NOT NULL;

-- The one who registered an account before its first person signed in keeps no access.
UPDATE account SET confirmed = TRUE WHERE approved_at <= created_at;
CREATE TEMP TABLE linked ON COMMIT DROP AS SELECT account.id, min(identity.created_at) AS at
    FROM account JOIN identity ON identity.account = account.id WHERE NOT confirmed GROUP BY account.id;
DELETE FROM session USING linked WHERE account = id AND created_at < at;
DELETE FROM link USING linked WHERE account = id;
UPDATE api_key SET revoked_at = at FROM linked
    WHERE owner = linked.id AND revoked_at IS NULL AND NOT is_subject AND created_at < at;
UPDATE account SET password = NULL, confirmed = TRUE WHERE id IN (SELECT id FROM linked);
UPDATE pulse SET keys = keys + 1;

-- Secrets of other things than keys, too; `key_id` is their id. `shown_until` of webhooks is not used any more.
ALTER TABLE new_secret DROP CONSTRAINT new_secret_key_id_fkey;
