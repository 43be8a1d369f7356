"""The Store on SQLite."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing, suppress

from attrs import frozen

from .. import wire
from ..errors import Unavailable
from ..model import Change, ChangeKind, Entry, Outcome
from ..ports import Analysis, Offload
from ._database import Database
from ._shown import Record, epoch, shown

_FINGERPRINT = "SELECT fingerprint FROM record WHERE name = ? AND source = ? AND version = ?"

# Replacing gives a record that was there a new, highest id.
_KEEP = """
    INSERT OR REPLACE INTO record
        (name, source, version, latest, deleted, published_at, fingerprint, body, analysis, analysed)
    VALUES
        (:name, :source, :version, :latest, :deleted, :published_at, :fingerprint, :body, :analysis, :analysed)
"""

_RECORDS = """
    SELECT id, source, version, latest, deleted, published_at, fingerprint FROM record WHERE name = ? ORDER BY id
"""

_SHOWN = "SELECT record.id, fingerprint FROM entry JOIN record ON record.id = shown WHERE mcp_id = ?"

_LOG = """
    INSERT INTO change (kind, mcp_id, total)
    VALUES (?, ?, coalesce((SELECT total FROM change ORDER BY seq DESC LIMIT 1), 0) + ?)
"""

_SHOW = """
    INSERT INTO entry (mcp_id, name, shown, seq) VALUES (?, ?, ?, ?)
    ON CONFLICT (mcp_id) DO UPDATE SET shown = excluded.shown, seq = excluded.seq
"""

_POINT = "UPDATE entry SET shown = ? WHERE mcp_id = ?"

_ENTRY = "SELECT body FROM entry JOIN record ON record.id = shown WHERE mcp_id = ?"

_HEAD = "SELECT coalesce(max(seq), 0) FROM change"

_OLDEST = "SELECT coalesce(min(seq), 0) FROM change"

# An entry that was removed meanwhile was added more than once.
_NEWEST = """
    SELECT mcp_id, body
    FROM change JOIN entry USING (mcp_id) JOIN record ON record.id = shown
    WHERE kind = 'added' ORDER BY change.seq DESC
"""

_COUNT = "SELECT coalesce((SELECT total FROM change ORDER BY seq DESC LIMIT 1), 0)"

_CURRENT = """
    SELECT seq, kind, mcp_id, record.id, body, analysis, analysed
    FROM entry JOIN record ON record.id = shown JOIN change USING (seq, mcp_id)
    WHERE mcp_id > ? ORDER BY mcp_id LIMIT ?
"""

_CHANGES = """
    SELECT change.seq, kind, mcp_id, record.id, body, analysis, analysed
    FROM change JOIN entry USING (mcp_id) LEFT JOIN record ON record.id = shown
    WHERE change.seq > ? ORDER BY change.seq LIMIT ?
"""

_ANALYSED = "UPDATE record SET analysis = ?, analysed = ? WHERE id = ?"

_DELTA: dict[ChangeKind, int] = {"added": 1, "changed": 0, "removed": -1}
"""What a change adds to the number of entries shown."""


@frozen
class SqliteStore:
    """Entries and their change log in the data directory.

    Where several sources have a name, local edits are shown before `sources`, and those, in their order, before
    others. What takes long goes through `offload`. Entries are kept with what `analysis` made of them; where another
    version of it did, they are analysed again when they are next read.
    """

    _database: Database
    _offload: Offload
    _analysis: Analysis
    _sources: Sequence[str] = ()

    async def publish(self, source: str, entries: Sequence[Entry]) -> Sequence[Outcome]:
        return await self._offload(self._publish, source, entries)

    async def entry(self, mcp_id: str) -> Entry | None:
        with self._database.connection() as connection:
            row = connection.execute(_ENTRY, (mcp_id,)).fetchone()
        return wire.restore_entry(row[0]) if row else None

    async def head(self) -> int:
        return self._number(_HEAD)

    async def current(self, after: str, limit: int) -> Sequence[Change]:
        return await self._offload(self._read, _CURRENT, after, limit)

    async def changes(self, after: int, limit: int) -> Sequence[Change]:
        return await self._offload(self._read, _CHANGES, after, limit)

    async def oldest(self) -> int:
        return self._number(_OLDEST)

    async def newest(self, limit: int) -> Sequence[Entry]:
        return await self._offload(self._newest, limit)

    async def count(self) -> int:
        return self._number(_COUNT)

    def _publish(self, source: str, entries: Sequence[Entry]) -> Sequence[Outcome]:
        rows = [_row(source, entry) for entry in entries]
        # Before the transaction, which others wait for.
        with self._database.connection() as connection:
            for entry, row in zip(entries, rows, strict=True):
                if _known(connection, row) != row["fingerprint"]:
                    row |= {"analysis": self._analysis.version, "analysed": self._analysis(entry)}
        with self._database.transaction() as connection:
            return [self._keep(connection, entry.mcp_id, row) for entry, row in zip(entries, rows, strict=True)]

    def _keep(self, connection: sqlite3.Connection, mcp_id: str, row: dict[str, object]) -> Outcome:
        name, known = row["name"], _known(connection, row)
        if known == row["fingerprint"]:
            return "unchanged"
        before = connection.execute(_SHOWN, (mcp_id,)).fetchone() or (None, None)
        connection.execute(_KEEP, row)
        records = [Record(*fields) for fields in connection.execute(_RECORDS, (name,))]
        record = shown(records, self._sources)
        after = (record.id, record.fingerprint) if record else (None, None)
        if kind := _kind(before[1], after[1]):
            seq = connection.execute(_LOG, (kind, mcp_id, _DELTA[kind])).lastrowid
            connection.execute(_SHOW, (mcp_id, name, after[0], seq))
        elif before != after:
            # Another record that says the same: nothing to tell anybody.
            connection.execute(_POINT, (after[0], mcp_id))
        return "changed" if known else "added"

    def _read(self, query: str, after: str | int, limit: int) -> Sequence[Change]:
        with self._database.connection() as connection:
            rows = connection.execute(query, (after, limit)).fetchall()
        current, found, anew = self._analysis.version, [], []
        for seq, kind, mcp_id, record, body, analysis, analysed in rows:
            if body and (analysis != current or analysed is None):
                analysed = self._analysis(wire.restore_entry(body))
                anew.append((current, analysed, record))
            found.append(Change(seq, kind, mcp_id, body, analysed))
        if anew:
            # It only saves time: who cannot keep it still has it.
            with suppress(Unavailable), self._database.transaction() as connection:
                connection.executemany(_ANALYSED, anew)
        return found

    def _newest(self, limit: int) -> Sequence[Entry]:
        bodies: dict[str, bytes] = {}
        with self._database.connection() as connection, closing(connection.execute(_NEWEST)) as rows:
            while len(bodies) < limit and (row := rows.fetchone()):
                bodies.setdefault(*row)
        return [wire.restore_entry(body) for body in bodies.values()]

    def _number(self, query: str) -> int:
        with self._database.connection() as connection:
            return int(connection.execute(query).fetchone()[0])


def _row(source: str, entry: Entry) -> dict[str, object]:
    official = entry.official
    return {
        "name": entry.name,
        "source": source,
        "version": entry.version,
        "latest": official.get("isLatest") is True,
        "deleted": official.get("status") == "deleted",
        "published_at": epoch(official.get("publishedAt")),
        "fingerprint": wire.fingerprint(entry),
        "body": wire.encode_entry(entry),
        "analysis": None,
        "analysed": None,
    }


def _known(connection: sqlite3.Connection, row: dict[str, object]) -> bytes | None:
    """Return the fingerprint of the record that `row` would replace, None if there is none."""
    known = connection.execute(_FINGERPRINT, (row["name"], row["source"], row["version"])).fetchone()
    return known[0] if known else None


def _kind(before: bytes | None, after: bytes | None) -> ChangeKind | None:
    """Return what happened to what is shown, told by its fingerprints (None: nothing is shown)."""
    if before == after:
        return None
    if before is None:
        return "added"
    return "changed" if after is not None else "removed"
