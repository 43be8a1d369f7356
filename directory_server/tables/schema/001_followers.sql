-- needs: 0
-- Work that one process does at a time: `holder` does it until `until`, in seconds since the epoch. Followers of the
-- change log have applied it to `seq` of the log with the id `log`, with the `version` of their rules or settings.
CREATE TABLE follower (
    name text COLLATE "C" PRIMARY KEY,
    log text COLLATE "C" NOT NULL DEFAULT '',
    seq bigint NOT NULL DEFAULT 0,
    version text COLLATE "C" NOT NULL DEFAULT '',
    holder text COLLATE "C" NOT NULL,
    until double precision NOT NULL
) WITHOUT ROWID;
