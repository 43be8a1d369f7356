-- Entries that files brought were stored as the operator's own (source local), like those of `entry add` and
-- `entry edit`. Names become imported if each of their own versions was written among 50 or more own versions within a
-- second before or after it: only imports write so many. Nothing moves if an upstream has the name of the new source.
CREATE TABLE imported_name AS
    SELECT name FROM (
        SELECT name, count(*) OVER (ORDER BY updated_at RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS neighbours
        FROM record WHERE source = 'local' AND NOT EXISTS (SELECT 1 FROM record WHERE source = 'imported')
    ) GROUP BY name HAVING min(neighbours) >= 50;
UPDATE record SET source = 'imported' WHERE source = 'local' AND name IN (SELECT name FROM imported_name);
DELETE FROM stored WHERE source IN ('local', 'imported');
INSERT INTO stored
    SELECT source, count(DISTINCT name), sum(length(body)) FROM record
    WHERE source IN ('local', 'imported') GROUP BY source;
UPDATE entry SET
    curated = pinned OR allowed
        OR EXISTS (SELECT 1 FROM record WHERE record.name = entry.name AND source = 'published')
WHERE name IN (SELECT name FROM imported_name);

-- The records that represent these names now, where another source than the sample has the name too. Of several
-- upstreams it is the first by name: the order of the configuration applies when the name is next written.
CREATE TABLE resolved_name AS
    SELECT entry.mcp_id, preferred.id, fingerprint, iif(deleted OR hidden, NULL, preferred.id) AS visible_id,
        shown AS shown_before,
        (SELECT fingerprint FROM record WHERE record.id = shown) AS fingerprint_before
    FROM (
        SELECT record.*, row_number() OVER (
            PARTITION BY name ORDER BY source <> 'published', source, source = 'published' AND deleted, NOT latest,
                published_at DESC, id DESC
        ) AS position
        FROM record
        WHERE name IN (SELECT name FROM imported_name) AND source NOT IN ('imported', 'sample')
    ) AS preferred JOIN entry USING (name)
    WHERE position = 1;
CREATE TABLE logged_name AS
    SELECT mcp_id, (SELECT coalesce(max(seq), 0) FROM change) + row_number() OVER by_id AS seq,
        CASE WHEN shown_before IS NULL THEN 'added' WHEN visible_id IS NULL THEN 'removed' ELSE 'changed' END AS kind,
        coalesce((SELECT total FROM change ORDER BY seq DESC LIMIT 1), 0)
            + sum((visible_id IS NOT NULL) - (shown_before IS NOT NULL)) OVER by_id AS total
    FROM resolved_name
    WHERE (visible_id IS NULL) <> (shown_before IS NULL)
        OR (visible_id IS NOT NULL AND fingerprint <> fingerprint_before)
    WINDOW by_id AS (ORDER BY mcp_id);
INSERT INTO change (seq, kind, mcp_id, total) SELECT seq, kind, mcp_id, total FROM logged_name;
UPDATE entry SET
    chosen = resolved.id,
    shown = resolved.visible_id,
    seq = coalesce(resolved.seq, entry.seq),
    updated_at = (julianday('now') - 2440587.5) * 86400.0
FROM (SELECT * FROM resolved_name LEFT JOIN logged_name USING (mcp_id)) AS resolved
WHERE resolved.mcp_id = entry.mcp_id;
DROP TABLE logged_name;
DROP TABLE resolved_name;
DROP TABLE imported_name;
