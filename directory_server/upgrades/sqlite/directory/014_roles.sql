-- The role of an account: member or operator.
ALTER TABLE account ADD COLUMN role TEXT NOT NULL DEFAULT 'member';
