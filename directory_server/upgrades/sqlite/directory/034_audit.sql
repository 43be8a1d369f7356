-- The audit log: a chain of records, each with the SHA-256 of the previous hash and of its fields. `at` is in
-- milliseconds since the epoch. `before` and `after` are JSON objects or empty.
CREATE TABLE audit (
    number INTEGER PRIMARY KEY,
    hash TEXT NOT NULL,
    at INTEGER NOT NULL,
    subject_kind TEXT NOT NULL,
    subject_id TEXT NOT NULL,
    subject_name TEXT NOT NULL,
    key_id TEXT NOT NULL,
    network TEXT NOT NULL,
    action TEXT NOT NULL,
    target TEXT NOT NULL,
    before TEXT NOT NULL,
    after TEXT NOT NULL,
    request_id TEXT NOT NULL,
    outcome TEXT NOT NULL
) STRICT;
CREATE INDEX audit_at ON audit (at);

-- Actions that are begun and not finished, with the columns of their record as JSON. `at` is in seconds.
CREATE TABLE audit_begun (id TEXT PRIMARY KEY, at REAL NOT NULL, event TEXT NOT NULL) STRICT;

-- Hashes of records; the base is that of the last deleted record.
CREATE TABLE audit_checkpoint (
    number INTEGER PRIMARY KEY,
    hash TEXT NOT NULL,
    is_base INTEGER NOT NULL,
    signature TEXT NOT NULL
) STRICT;
