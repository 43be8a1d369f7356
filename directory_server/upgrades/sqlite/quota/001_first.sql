-- One row for each unit spent. For one key `n` is consecutive and `at`, seconds since the epoch, never falls as it
-- rises: the first and the last row of a window say how many are in it.
CREATE TABLE spent (
    key TEXT NOT NULL,
    at REAL NOT NULL,
    n INTEGER NOT NULL,
    PRIMARY KEY (key, at, n)
) STRICT, WITHOUT ROWID;
