-- needs: 0
-- Requests of people that somebody decides on, of several kinds, about a subject at a place. `details` is a JSON object.
-- Times are seconds since the epoch.
CREATE TABLE request (
    id text COLLATE "C" PRIMARY KEY,
    kind text COLLATE "C" NOT NULL,
    subject text COLLATE "C" NOT NULL,
    place text COLLATE "C" NOT NULL,
    account text COLLATE "C" REFERENCES account (id) ON DELETE SET NULL,
    state text NOT NULL,
    created_at double precision NOT NULL,
    updated_at double precision NOT NULL,
    details text NOT NULL
) WITHOUT ROWID;
CREATE INDEX request_open ON request (kind, place, created_at) WHERE state IN ('open', 'asked');
CREATE INDEX request_subject ON request (subject, place);
CREATE INDEX request_account ON request (account, updated_at);

CREATE TABLE request_event (
    request text COLLATE "C" NOT NULL REFERENCES request (id) ON DELETE CASCADE,
    number bigint NOT NULL,
    at double precision NOT NULL,
    kind text NOT NULL,
    account text COLLATE "C",
    text text NOT NULL,
    PRIMARY KEY (request, number)
) WITHOUT ROWID;
