-- needs: 5
-- What features have found and operators have decided of entries, by kind (domain.notes.Note). `since` is in seconds
-- since the epoch. The kinds of flags are those of domain.flags.
CREATE TABLE note (
    mcp_id text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    other text COLLATE "C" NOT NULL,
    reason text NOT NULL,
    since double precision NOT NULL,
    body bytea,
    body_id text COLLATE "C",
    PRIMARY KEY (mcp_id, kind, other)
);
CREATE INDEX note_kind ON note (kind, mcp_id);

-- Long bodies that several notes may share, by their digests.
CREATE TABLE note_body (
    id text COLLATE "C" PRIMARY KEY,
    body bytea NOT NULL
) WITHOUT ROWID;

INSERT INTO note (mcp_id, kind, other, reason, since) SELECT mcp_id, kind, other, reason, since FROM entry_flag;
DROP TABLE entry_flag;
