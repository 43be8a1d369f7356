-- The time of the quota is `origin` plus the seconds since the machine was booted, in every process. `boot` names that
-- boot; it is empty on machines that give boots no names.
CREATE TABLE anchor (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    boot TEXT NOT NULL,
    origin REAL NOT NULL
) STRICT;
