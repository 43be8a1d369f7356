-- needs: 1
-- The role of an account: member or operator.
ALTER TABLE account ADD COLUMN role text NOT NULL DEFAULT 'member';
