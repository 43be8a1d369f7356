-- Malicious packages of the sources of advisories, by the key of a package and the id of the record. `body` has the
-- versions, in JSON.
CREATE TABLE advisory (
    package TEXT NOT NULL,
    id TEXT NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (package, id)
) STRICT, WITHOUT ROWID;

-- When all sources were read (seconds since the epoch), and what they were then. It has at most one row.
CREATE TABLE advisory_reading (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    read_at REAL NOT NULL,
    signature TEXT NOT NULL
) STRICT;
