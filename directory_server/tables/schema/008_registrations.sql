-- needs: 8
-- Accounts that wait for approval have requests for it; the id is made of that of the account.
INSERT INTO request (id, kind, subject, place, account, state, created_at, updated_at, details)
    SELECT 'r' || id, 'registration', id, '', id, 'open', created_at, clock_seconds(), '{}'
    FROM account WHERE approved_at IS NULL AND disabled_at IS NULL;
INSERT INTO request_event (request, number, at, kind, account, text)
    SELECT 'r' || id, 0, created_at, 'requested', id, ''
    FROM account WHERE approved_at IS NULL AND disabled_at IS NULL;
