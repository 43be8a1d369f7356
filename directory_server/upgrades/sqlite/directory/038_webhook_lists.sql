-- A webhook with a list gets changes of the entries of this list. Names of lists are separated by spaces.
ALTER TABLE webhook ADD COLUMN list TEXT NOT NULL DEFAULT '';
ALTER TABLE webhook_change ADD COLUMN lists_before TEXT NOT NULL DEFAULT '';
ALTER TABLE webhook_change ADD COLUMN lists_after TEXT NOT NULL DEFAULT '';
ALTER TABLE webhook_entry ADD COLUMN lists TEXT NOT NULL DEFAULT '';
UPDATE webhook_entry SET lists = coalesce((
    SELECT group_concat(list, ' ') FROM list_entry
    WHERE list_entry.mcp_id = webhook_entry.mcp_id AND left_at IS NULL
), '');
