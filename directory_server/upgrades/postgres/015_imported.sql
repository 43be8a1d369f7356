-- needs: 1
-- Entries that files brought were stored as the operator's own (source local), like those of `entry add` and
-- `entry edit`. Names become imported if each of their own versions was written among 50 or more own versions within a
-- second before or after it: only imports write so many. Nothing moves if an upstream has the name of the new source.
-- (0, 1) is the lock of publishers: the order of the log is the order of commits.
DO $$ BEGIN PERFORM pg_advisory_xact_lock(0, 1); END $$;
CREATE TEMPORARY TABLE imported_name ON COMMIT DROP AS
    SELECT name FROM (
        SELECT name, count(*) OVER (ORDER BY updated_at RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS neighbours
        FROM record WHERE source = 'local' AND NOT EXISTS (SELECT 1 FROM record WHERE source = 'imported')
    ) AS own GROUP BY name HAVING min(neighbours) >= 50;
UPDATE record SET source = 'imported' WHERE source = 'local' AND name IN (SELECT name FROM imported_name);
DELETE FROM stored WHERE source IN ('local', 'imported');
INSERT INTO stored
    SELECT source, count(DISTINCT name), sum(octet_length(body)) FROM record
    WHERE source IN ('local', 'imported') GROUP BY source;
UPDATE entry SET
    curated = pinned OR allowed
        OR EXISTS (SELECT 1 FROM record WHERE record.name = entry.name AND source = 'published')
WHERE name IN (SELECT name FROM imported_name);

-- The records that represent these names now, where another source than the sample has the name too. Of several
-- upstreams it is the first by name: the order of the configuration applies when the name is next written.
CREATE TEMPORARY TABLE resolved_name ON COMMIT DROP AS
    SELECT entry.mcp_id, preferred.id, fingerprint,
        CASE WHEN NOT (deleted OR hidden) THEN preferred.id END AS new_visible_id,
        visible_id AS old_visible_id,
        (SELECT record.fingerprint FROM record WHERE record.id = visible_id) AS old_fingerprint
    FROM (
        SELECT record.*, row_number() OVER (
            PARTITION BY name ORDER BY source <> 'published', source, source = 'published' AND deleted, NOT latest,
                published_at DESC NULLS LAST, written DESC
        ) AS position
        FROM record
        WHERE name IN (SELECT name FROM imported_name) AND source NOT IN ('imported', 'sample')
    ) AS preferred JOIN entry USING (name)
    WHERE position = 1;
CREATE TEMPORARY TABLE logged_name ON COMMIT DROP AS
    SELECT mcp_id, (SELECT coalesce(max(seq), 0) FROM change) + row_number() OVER by_id AS seq,
        CASE WHEN old_visible_id IS NULL THEN 'added' WHEN new_visible_id IS NULL THEN 'removed' ELSE 'changed' END
            AS kind,
        coalesce((SELECT total FROM change ORDER BY seq DESC LIMIT 1), 0)
            + sum((new_visible_id IS NOT NULL)::int - (old_visible_id IS NOT NULL)::int) OVER by_id AS total
    FROM resolved_name
    WHERE (new_visible_id IS NULL) <> (old_visible_id IS NULL)
        OR (new_visible_id IS NOT NULL AND fingerprint <> old_fingerprint)
    WINDOW by_id AS (ORDER BY mcp_id);
INSERT INTO change (seq, kind, mcp_id, total) SELECT seq, kind, mcp_id, total FROM logged_name ORDER BY seq;
UPDATE entry SET
    preferred_id = resolved.id,
    visible_id = resolved.new_visible_id,
    seq = coalesce(resolved.seq, entry.seq),
    updated_at = extract(epoch FROM clock_timestamp())
FROM (SELECT * FROM resolved_name LEFT JOIN logged_name USING (mcp_id)) AS resolved
WHERE resolved.mcp_id = entry.mcp_id;
