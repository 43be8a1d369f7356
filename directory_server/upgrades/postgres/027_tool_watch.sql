-- needs: 1
-- The marks of the texts of an entry that an operator has accepted: their ids, separated by spaces.
CREATE TABLE accepted_marks (
    mcp_id text COLLATE "C" PRIMARY KEY,
    accepted text COLLATE "C" NOT NULL
);

-- What a change of kind "changed" was: "tools" for tools that a remote lists, empty for all others.
ALTER TABLE change ADD COLUMN cause text NOT NULL DEFAULT '';
