-- The name of the rule of the policy that hides an entry, empty if none does. `hidden` is set, too.
ALTER TABLE entry ADD COLUMN rule TEXT NOT NULL DEFAULT '';

-- The rules that all entries were compared with.
CREATE TABLE applied_policy (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    rules TEXT NOT NULL
) STRICT;
