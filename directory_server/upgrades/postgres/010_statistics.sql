-- needs: 1
-- Requests by route and searches by API. `day` is in days since the epoch. `failed` counts requests with an error status
-- and searches without a hit.
CREATE TABLE statistic_count (
    day integer NOT NULL,
    kind text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    total bigint NOT NULL,
    failed bigint NOT NULL,
    PRIMARY KEY (day, kind, name)
);

-- Texts of frequent searches, without anything about who searched.
CREATE TABLE statistic_query (
    day integer NOT NULL,
    text text COLLATE "C" NOT NULL,
    total bigint NOT NULL,
    failed bigint NOT NULL,
    PRIMARY KEY (day, text)
);
