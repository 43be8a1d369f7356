-- Requests by route and searches by API. `day` is in days since the epoch. `failed` counts requests with an error status
-- and searches without a hit.
CREATE TABLE count (
    day INTEGER NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    total INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    PRIMARY KEY (day, kind, name)
) STRICT, WITHOUT ROWID;

-- Texts of frequent searches, without anything about who searched.
CREATE TABLE query (
    day INTEGER NOT NULL,
    text TEXT NOT NULL,
    total INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    PRIMARY KEY (day, text)
) STRICT, WITHOUT ROWID;
