-- needs: 1
-- Reports are requests.
INSERT INTO request (id, kind, subject, place, account, state, created_at, updated_at, details)
    SELECT id, 'report', mcp_id, '', NULL, CASE WHEN closed_at IS NULL THEN 'open' ELSE 'closed' END, reported_at,
        coalesce(closed_at, reported_at),
        json_object('name', server_name, 'version', version, 'reason', reason) -- sqlite
        CAST(json_build_object('name', server_name, 'version', version, 'reason', reason) AS text) -- postgres
    FROM report;
INSERT INTO request_event (request, number, at, kind, account, text)
    SELECT id, 0, reported_at, 'requested', NULL, text FROM report;
INSERT INTO request_event (request, number, at, kind, account, text)
    SELECT id, 1, closed_at, 'closed', NULL, '' FROM report WHERE closed_at IS NOT NULL;
DROP TABLE report;
