-- needs: 1
-- Periodic tasks, each of which one of all processes performs. `due` is the time of the next run by the clock of the
-- database.
CREATE TABLE task (
    name text COLLATE "C" PRIMARY KEY,
    due double precision NOT NULL
);

-- The version of the analysis that the process reads and stores; NULL for software that does not report it.
ALTER TABLE node ADD COLUMN analysis text COLLATE "C";
