-- needs: 0
-- file: statistics
-- The key of the hashes of a period of 30 days since the epoch. It is deleted with them.
CREATE TABLE popularity_period (
    period integer NOT NULL PRIMARY KEY,
    key bytea NOT NULL
) WITHOUT ROWID;

-- Places of a sketch for each entry and period: a hash of an account and the entry gives one of 4,096.
CREATE TABLE popularity_mark (
    period integer NOT NULL,
    mcp_id text COLLATE "C" NOT NULL,
    place integer NOT NULL,
    PRIMARY KEY (period, mcp_id, place)
) WITHOUT ROWID;
