-- The name of the rule of the policy that hides an entry, empty if none does. `hidden` is set, too.
ALTER TABLE entry ADD COLUMN rule TEXT NOT NULL DEFAULT '';

-- Lists of names read the index only.
DROP INDEX listed;
CREATE INDEX listed ON entry (name, updated_at, hidden, visible_id, curated, preferred_id, rule);

-- The rules that all entries were compared with.
CREATE TABLE applied_policy (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    rules TEXT NOT NULL
) STRICT;
