-- needs: 0
-- The remotes and packages of entries that are checked, by the digest of their fields. `body` is the target in JSON.
-- Times are seconds since the epoch `holder` has the lease of a check until `held_until`.
-- `state` is what is known of the target, in JSON; NULL before the first check. `texts` are those
-- of its package.
CREATE TABLE target (
    id text COLLATE "C" PRIMARY KEY,
    mcp_id text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    host text COLLATE "C" NOT NULL,
    body bytea NOT NULL,
    due_at double precision NOT NULL,
    holder text COLLATE "C" NOT NULL DEFAULT '',
    held_until double precision NOT NULL DEFAULT 0,
    state bytea,
    texts text COLLATE "C"
);
CREATE INDEX target_mcp_id ON target (mcp_id);
CREATE INDEX target_due ON target (kind, due_at);
CREATE INDEX target_held ON target (holder) WHERE holder <> '';
CREATE INDEX target_texts ON target (texts) WHERE texts IS NOT NULL;

-- The verification of entries, in JSON: `summary`, and what the index holds of it, NULL if that is nothing. `texts`
-- are those that the index holds. `revision` grows with every writing, in the order of the commits.
CREATE TABLE verification (
    mcp_id text COLLATE "C" PRIMARY KEY,
    revision bigint NOT NULL UNIQUE,
    summary bytea NOT NULL,
    indexed bytea,
    texts text COLLATE "C"
) WITHOUT ROWID;

-- How far targets have been derived from the change log, and the lease of the process that does it. It has at most one row.
CREATE TABLE verification_plan (
    id integer PRIMARY KEY CHECK (id = 1),
    seq bigint NOT NULL DEFAULT 0,
    selection text NOT NULL DEFAULT '',
    holder text COLLATE "C" NOT NULL DEFAULT '',
    held_until double precision NOT NULL DEFAULT 0
);

-- The texts of packages, in JSON, by their digests. Targets and verifications of several entries may have the same ones.
CREATE TABLE package_texts (
    id text COLLATE "C" PRIMARY KEY,
    body bytea NOT NULL
) WITHOUT ROWID;
