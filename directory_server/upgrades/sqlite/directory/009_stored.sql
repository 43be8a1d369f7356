-- How much each source stores: names, also those of deleted entries, and bytes of documents. Kept by the triggers, so
-- that a limit is checked without counting.
CREATE TABLE stored (
    source TEXT PRIMARY KEY,
    names INTEGER NOT NULL,
    bytes INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO stored SELECT source, count(DISTINCT name), sum(length(body)) FROM record GROUP BY source;

CREATE TRIGGER record_stored AFTER INSERT ON record BEGIN
    INSERT INTO stored (source, names, bytes)
        SELECT NEW.source, 0, 0 WHERE NOT EXISTS (SELECT 1 FROM stored WHERE source = NEW.source);
    UPDATE stored SET
        names = names + NOT EXISTS (
            SELECT 1 FROM record WHERE name = NEW.name AND source = NEW.source AND id <> NEW.id
        ),
        bytes = bytes + length(NEW.body)
    WHERE source = NEW.source;
END;

CREATE TRIGGER record_rewritten AFTER UPDATE OF body ON record BEGIN
    UPDATE stored SET bytes = bytes + length(NEW.body) - length(OLD.body) WHERE source = NEW.source;
END;

CREATE TRIGGER record_removed AFTER DELETE ON record BEGIN
    UPDATE stored SET
        names = names - NOT EXISTS (SELECT 1 FROM record WHERE name = OLD.name AND source = OLD.source),
        bytes = bytes - length(OLD.body)
    WHERE source = OLD.source;
END;
