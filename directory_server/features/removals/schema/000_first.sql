-- needs: 0
-- Malicious packages of the sources of advisories, by the key of a package and the id of the record. `body` has the
-- versions, in JSON.
CREATE TABLE advisory (
    package text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (package, id)
) WITHOUT ROWID;

-- When all sources were read (seconds since the epoch), and what they were then. It has at most one row.
CREATE TABLE advisory_reading (
    id integer PRIMARY KEY CHECK (id = 1),
    read_at double precision NOT NULL,
    signature text NOT NULL
);
