-- 10,000 entries, a quarter of them with an older version; 5,000 accounts with 10,000 keys.
-- Without triggers, which makes it faster.
SET session_replication_role = replica;

INSERT INTO record (name, source, version, latest, deleted, fingerprint, body, created_at, updated_at)
SELECT 'com.example.' || md5(n::text), 'registry', version, latest, latest AND n % 50 = 0, decode(md5(n::text), 'hex'),
    decode(repeat(md5(n::text), 16), 'hex'), at, at
FROM (
    SELECT n, '0.9.0' AS version, false AS latest, 9e8 + n AS at FROM generate_series(4, 10000, 4) AS n
    UNION ALL SELECT n, '1.0.' || n % 100, true, 1e9 + n FROM generate_series(1, 10000) AS n
) AS versions;

INSERT INTO analysed SELECT DISTINCT fingerprint, '1', body FROM record;

INSERT INTO entry (mcp_id, name, visible_id, preferred_id, seq, updated_at, hidden, curated)
SELECT md5(name), name, CASE WHEN deleted THEN NULL ELSE id END, id, id - 2500, updated_at, id % 200 = 0, id % 97 = 1
FROM record WHERE latest;

INSERT INTO change (seq, kind, mcp_id, total) SELECT seq, 'added', mcp_id, seq FROM entry;

INSERT INTO target (id, mcp_id, kind, host, body, due_at, state)
SELECT md5(mcp_id || kind), mcp_id, kind, 'host' || seq % 500, decode(repeat(mcp_id, 8), 'hex'), due_at + seq, ''
FROM entry, (VALUES ('remote', 1e9), ('package', 9e9)) AS kinds (kind, due_at) WHERE seq % 4 > 0;

INSERT INTO verification SELECT mcp_id, seq, decode(repeat(mcp_id, 4), 'hex'), NULL FROM entry WHERE seq % 2 = 0;

INSERT INTO seen SELECT source, name, true FROM (VALUES ('registry'), ('other')) AS sources (source), entry
WHERE seq % 2 = 0;

INSERT INTO account (id, email, password, created_at, approved_at, disabled_at)
SELECT md5(n::text), n || '@example.org', '', 1e9 + n, CASE WHEN n % 100 > 0 THEN 1e9 END,
    CASE WHEN n % 100 = 50 THEN 1e9 END
FROM generate_series(1, 5000) AS n;

INSERT INTO session (digest, account, created_at, seen_at) SELECT decode(id, 'hex'), id, created_at, created_at
FROM account;

INSERT INTO api_key (id, label, quota, created_at, expires_at, revoked_at, owner)
SELECT md5(n::text), 'key ' || n, 20, 1e9 + n, CASE WHEN n % 10 = 0 THEN 2e9 END, CASE WHEN n % 20 = 0 THEN 1.5e9 END,
    CASE WHEN n % 5 > 0 THEN md5((n % 5000 + 1)::text) END
FROM generate_series(1, 10000) AS n;

INSERT INTO secret (digest, key_id, last_four, created_at) SELECT decode(id, 'hex'), id, 'last', created_at FROM api_key;

INSERT INTO key_use SELECT id, created_at, '', '' FROM api_key WHERE revoked_at IS NULL AND expires_at IS NULL;

INSERT INTO publication (at, token_id, label, action, name, version, network, outcome)
SELECT 1e9 + n, md5((n % 10)::text), 'label', 'publish', md5(n::text), '1.0.0', '', 'ok'
FROM generate_series(1, 10000) AS n;

RESET session_replication_role;
