-- needs: 0
-- The rules that all entries were compared with.
CREATE TABLE applied_policy (
    id integer PRIMARY KEY CHECK (id = 1),
    rules text COLLATE "C" NOT NULL
);
