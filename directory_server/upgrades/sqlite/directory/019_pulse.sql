-- One row. `keys` grows with each write that changes or ends a key or one of its secrets, so that look-ups of keys stay
-- cached over other writes. A new key does not change it. Triggers, so that no program can forget it.
CREATE TABLE pulse (keys INTEGER NOT NULL) STRICT;
INSERT INTO pulse (keys) VALUES (0);

CREATE TRIGGER key_changed AFTER UPDATE ON api_key BEGIN UPDATE pulse SET keys = keys + 1; END;
CREATE TRIGGER key_deleted AFTER DELETE ON api_key BEGIN UPDATE pulse SET keys = keys + 1; END;
CREATE TRIGGER secret_changed AFTER UPDATE ON secret BEGIN UPDATE pulse SET keys = keys + 1; END;
CREATE TRIGGER secret_deleted AFTER DELETE ON secret BEGIN UPDATE pulse SET keys = keys + 1; END;
CREATE TRIGGER owner_changed AFTER UPDATE OF approved_at, disabled_at ON account
    BEGIN UPDATE pulse SET keys = keys + 1; END;
