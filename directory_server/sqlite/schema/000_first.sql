-- needs: 0
-- Keep the rows of `stored`.
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

-- Count the writes that change or end a key or one of its secrets, so that no program can forget it.
CREATE TRIGGER key_changed AFTER UPDATE ON api_key BEGIN UPDATE pulse SET keys = keys + 1; END;
CREATE TRIGGER key_deleted AFTER DELETE ON api_key BEGIN UPDATE pulse SET keys = keys + 1; END;
CREATE TRIGGER secret_changed AFTER UPDATE ON secret BEGIN UPDATE pulse SET keys = keys + 1; END;
CREATE TRIGGER secret_deleted AFTER DELETE ON secret BEGIN UPDATE pulse SET keys = keys + 1; END;
CREATE TRIGGER owner_changed AFTER UPDATE OF approved_at, disabled_at ON account
    BEGIN UPDATE pulse SET keys = keys + 1; END;
CREATE TRIGGER owner_lapses AFTER UPDATE OF renew_by ON account
    WHEN coalesce(NEW.renew_by, 9e99) < coalesce(OLD.renew_by, 9e99) BEGIN UPDATE pulse SET keys = keys + 1; END;

-- file: quota
-- The time of the quota is `origin` plus the seconds since the machine was booted, in every process. `boot` names that
-- boot; it is empty on machines that give boots no names.
CREATE TABLE anchor (
    id integer PRIMARY KEY CHECK (id = 1),
    boot text NOT NULL,
    origin double precision NOT NULL
);
