-- needs: 0
-- The marks of the texts of an entry that an operator has accepted: their ids, separated by spaces.
CREATE TABLE accepted_marks (
    mcp_id text COLLATE "C" PRIMARY KEY,
    accepted text COLLATE "C" NOT NULL
) WITHOUT ROWID;
