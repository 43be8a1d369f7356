-- needs: 1
-- The name of the rule of the policy that hides an entry, empty if none does. `hidden` is set, too.
ALTER TABLE entry ADD COLUMN rule text COLLATE "C" NOT NULL DEFAULT '';

-- The rules that all entries were compared with.
CREATE TABLE applied_policy (
    id integer PRIMARY KEY CHECK (id = 1),
    rules text COLLATE "C" NOT NULL
);
