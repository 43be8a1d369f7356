-- needs: 4
-- With "joined_at" an entry joined the list: a change, 0 without one, or NULL before this step.
ALTER TABLE list_entry ADD COLUMN joined_at bigint;
