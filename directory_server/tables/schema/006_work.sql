-- needs: 0
-- How far work is that takes long, by name (domain.work.Work). Times are in seconds since the epoch.
CREATE TABLE work (
    name text COLLATE "C" PRIMARY KEY,
    started_at double precision NOT NULL,
    at double precision NOT NULL,
    done bigint NOT NULL,
    total bigint NOT NULL,
    has_ended boolean NOT NULL
) WITHOUT ROWID;
