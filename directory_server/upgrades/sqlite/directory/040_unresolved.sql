-- Names whose visible record must be chosen again, by rules of a newer version of the software. Servers do it at their
-- start. These have several versions of a source that marks none as the latest.
CREATE TABLE unresolved (
    name TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;
INSERT INTO unresolved SELECT entry.name FROM entry INNER JOIN record ON record.id = entry.preferred_id
    WHERE NOT record.latest AND EXISTS (
        SELECT 1 FROM record AS other
        WHERE other.name = record.name AND other.source = record.source AND other.id <> record.id
    );
