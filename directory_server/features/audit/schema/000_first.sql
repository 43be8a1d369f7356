-- needs: 0
-- The audit log: a chain of records, each with the SHA-256 of the previous hash and of its fields. `at` is in
-- milliseconds since the epoch. `before` and `after` are JSON objects or empty.
CREATE TABLE audit (
    number bigint PRIMARY KEY,
    hash text NOT NULL,
    at bigint NOT NULL,
    subject_kind text NOT NULL,
    subject_id text NOT NULL,
    subject_name text NOT NULL,
    key_id text NOT NULL,
    network text NOT NULL,
    action text NOT NULL,
    target text NOT NULL,
    before text NOT NULL,
    after text NOT NULL,
    request_id text NOT NULL,
    outcome text NOT NULL
);
CREATE INDEX audit_at ON audit (at);

-- Actions that are begun and not finished, with the columns of their record as JSON. `at` is in seconds.
CREATE TABLE audit_begun (id text COLLATE "C" PRIMARY KEY, at double precision NOT NULL, event text NOT NULL);

-- Hashes of records; the base is that of the last deleted record. `at` is in milliseconds since the epoch; 0 for those of earlier releases, whose signature has none.
CREATE TABLE audit_checkpoint (
    number bigint PRIMARY KEY,
    hash text NOT NULL,
    is_base boolean NOT NULL,
    signature text NOT NULL,
    at bigint NOT NULL DEFAULT 0
);
