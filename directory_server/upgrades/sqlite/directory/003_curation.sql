-- When a record first came and when it was last written, seconds since the epoch.
ALTER TABLE record ADD COLUMN created_at REAL NOT NULL DEFAULT 0;
ALTER TABLE record ADD COLUMN updated_at REAL NOT NULL DEFAULT 0;

-- Every name has its row that a source has published or the operator has marked. `chosen` is the foremost record, which
-- is shown unless it is deleted or the name is hidden; `updated_at` is when anything of this last changed; `curated`
-- says that the operator stands by the name: it is pinned, allowed, or an entry of his own.
ALTER TABLE entry ADD COLUMN chosen INTEGER;
ALTER TABLE entry ADD COLUMN updated_at REAL NOT NULL DEFAULT 0;
ALTER TABLE entry ADD COLUMN hidden INTEGER NOT NULL DEFAULT 0;
ALTER TABLE entry ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0;
ALTER TABLE entry ADD COLUMN allowed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE entry ADD COLUMN curated INTEGER NOT NULL DEFAULT 0;

UPDATE record SET (created_at, updated_at) =
    (SELECT at, at FROM entry JOIN change USING (seq, mcp_id) WHERE entry.name = record.name)
WHERE name IN (SELECT name FROM entry);
UPDATE entry SET
    chosen = coalesce(shown, (SELECT max(id) FROM record WHERE record.name = entry.name)),
    updated_at = (SELECT at FROM change WHERE change.seq = entry.seq),
    curated = EXISTS (SELECT 1 FROM record WHERE record.name = entry.name AND source = 'local');

-- All that a page of names asks for, so that a rare one among many is found without a look at each.
CREATE INDEX listed ON entry (name, updated_at, hidden, shown, curated, chosen);

-- How far each upstream is followed (its entries are the records whose source has its name), how the last rounds went,
-- and which process has a round under way, until when at the latest. `walk_` is of a round that has not ended.
CREATE TABLE upstream (
    name TEXT PRIMARY KEY,
    question TEXT NOT NULL,
    last_round REAL,
    last_success REAL,
    next_round REAL NOT NULL,
    error TEXT NOT NULL,
    failures INTEGER NOT NULL,
    entries INTEGER NOT NULL,
    mark REAL,
    etag TEXT NOT NULL,
    modified TEXT NOT NULL,
    walked INTEGER NOT NULL,
    walked_at REAL,
    walk_full INTEGER,
    walk_began REAL,
    walk_cursor TEXT
) STRICT;

CREATE TABLE lease (
    upstream TEXT PRIMARY KEY,
    holder TEXT NOT NULL,
    until REAL NOT NULL
) STRICT;

-- The names that a full walk has come across, to tell which have vanished.
CREATE TABLE seen (
    upstream TEXT NOT NULL,
    name TEXT NOT NULL,
    taken INTEGER NOT NULL,
    PRIMARY KEY (upstream, name)
) STRICT, WITHOUT ROWID;

CREATE INDEX of_source ON record (source, deleted, name);
