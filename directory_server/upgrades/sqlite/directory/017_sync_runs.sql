-- The last finished sync runs of each upstream. Times are seconds since the epoch; `error` is empty after a success.
CREATE TABLE sync_run (
    id INTEGER PRIMARY KEY,
    upstream TEXT NOT NULL,
    started_at REAL NOT NULL,
    ended_at REAL NOT NULL,
    is_full INTEGER NOT NULL,
    entries INTEGER NOT NULL,
    added INTEGER NOT NULL,
    changed INTEGER NOT NULL,
    removed INTEGER NOT NULL,
    rejected INTEGER NOT NULL,
    error TEXT NOT NULL
) STRICT;

CREATE INDEX sync_run_upstream ON sync_run (upstream, id);
