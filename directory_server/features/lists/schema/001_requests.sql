-- needs: 1
-- Requests for entries are requests as others. Those of new versions are of a kind of their own.
INSERT INTO request (id, kind, subject, place, account, state, created_at, updated_at, details)
    SELECT id, CASE waits_for WHEN '' THEN 'list' ELSE 'version' END, name, list, account, state, created_at, updated_at,
        CASE waits_for WHEN '' THEN '{}' ELSE json_object('digest', waits_for) END -- sqlite
        CASE waits_for WHEN '' THEN '{}' ELSE CAST(json_build_object('digest', waits_for) AS text) END -- postgres
    FROM list_request;
INSERT INTO request_event (request, number, at, kind, account, text)
    SELECT request, number, at, kind, account, text FROM list_request_event;
DROP TABLE list_request_event;
DROP TABLE list_request;
