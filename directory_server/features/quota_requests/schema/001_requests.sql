-- needs: 1
-- Requests for a larger limit are requests as others; the id is made of that of the account.
INSERT INTO request (id, kind, subject, place, account, state, created_at, updated_at, details)
    SELECT 'q' || account, 'quota', account, '', account,
        CASE WHEN decided_at IS NULL THEN 'open' WHEN granted IS NULL THEN 'declined' ELSE 'approved' END,
        requested_at, coalesce(decided_at, requested_at),
        json_object('wanted', wanted, 'granted', granted) -- sqlite
        CAST(json_build_object('wanted', wanted, 'granted', granted) AS text) -- postgres
    FROM quota_request;
INSERT INTO request_event (request, number, at, kind, account, text)
    SELECT 'q' || account, 0, requested_at, 'requested', account, reason FROM quota_request;
INSERT INTO request_event (request, number, at, kind, account, text)
    SELECT 'q' || account, 1, decided_at, CASE WHEN granted IS NULL THEN 'declined' ELSE 'approved' END, NULL, ''
    FROM quota_request WHERE decided_at IS NOT NULL;
DROP TABLE quota_request;
