-- The marks of the texts of an entry that an operator has accepted: their ids, separated by spaces.
CREATE TABLE accepted_marks (
    mcp_id TEXT PRIMARY KEY,
    accepted TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- What a change of kind "changed" was: "tools" for tools that a remote lists, empty for all others.
ALTER TABLE change ADD COLUMN cause TEXT NOT NULL DEFAULT '';
