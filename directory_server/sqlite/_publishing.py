"""Writing a batch of records: each name resolved once, within the limits of its source, in short transactions."""

from __future__ import annotations

import sqlite3
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cmp_to_key
from typing import Any

from attrs import evolve, frozen

from ..domain.changes import Outcome
from ..domain.precedence import Record, later
from ._database import Database
from ._visibility import NOW, updating_visibility

MAX_VERSIONS = 200
"""The most stored versions of a name and source."""

TRANSACTION = 0.5
"""Seconds after which a transaction is committed, and the rest of the batch written in another one."""

PAUSE = 0.15
"""Seconds between two such transactions: SQLite looks every tenth of a second whether a lock has been released."""

Row = dict[str, Any]
"""The columns of a record that is to be written, without `created_at`."""

_KNOWN = "SELECT fingerprint, latest, length(body) FROM record WHERE name = ? AND source = ? AND version = ?"

# A record that is written again gets a new, highest id.
_STORE = f"""
    INSERT INTO record
        (name, source, version, latest, deleted, published_at, fingerprint, body, analysis, analysed,
         created_at, updated_at)
    VALUES
        (:name, :source, :version, :latest, :deleted, :published_at, :fingerprint, :body, :analysis, :analysed,
         {NOW}, {NOW})
    ON CONFLICT (name, source, version) DO UPDATE SET
        id = (SELECT max(id) + 1 FROM record),
        latest = excluded.latest, deleted = excluded.deleted, published_at = excluded.published_at,
        fingerprint = excluded.fingerprint, body = excluded.body, analysis = excluded.analysis,
        analysed = excluded.analysed, updated_at = excluded.updated_at
"""

# A mirrored source may not update the previous latest version itself.
_OUTDATE = """
    UPDATE record SET latest = 0 WHERE name = :name AND source = :source AND version <> :version AND latest
"""

_VERSIONS = """
    SELECT id, source, version, latest, deleted, published_at, fingerprint FROM record WHERE name = ? AND source = ?
"""

_DROP = "DELETE FROM record WHERE id = ?"

_STORED = "SELECT names, bytes FROM stored WHERE source = ?"

_HAS_NAME = "SELECT 1 FROM record WHERE name = ? AND source = ? LIMIT 1"


@frozen
class SourceLimits:
    """The limits of a source: names, including those of deleted entries, and bytes of all documents."""

    entries: int
    bytes: int


@frozen
class Publisher:
    """Writes records of one source at a time. `clock` returns seconds; `pause` sleeps for a number of seconds."""

    database: Database
    sources: Sequence[str]
    limits: Mapping[str, SourceLimits]
    clock: Callable[[], float]
    pause: Callable[[float], object]

    def publish(self, rows: Sequence[Row]) -> list[Outcome]:
        """Write `rows`, all of one source; return the outcomes. Raises Unavailable; committed rows stay."""
        outcomes: dict[int, Outcome] = {}
        names: dict[str, list[int]] = {}
        for number, row in enumerate(rows):
            names.setdefault(row["name"], []).append(number)
        waiting = deque(names.values())
        while waiting:
            with self.database.transaction() as connection:
                end = self.clock() + TRANSACTION
                while waiting:
                    numbers = waiting.popleft()
                    done = self._publish_name(connection, [rows[number] for number in numbers], end)
                    outcomes |= zip(numbers, done, strict=False)
                    if len(done) < len(numbers):
                        waiting.appendleft(numbers[len(done) :])
                    if self.clock() >= end:
                        break
            if waiting:
                self.pause(PAUSE)
        return [outcomes[number] for number in range(len(rows))]

    def _publish_name(self, connection: sqlite3.Connection, rows: Sequence[Row], end: float) -> list[Outcome]:
        """Write `rows` of one name, or those that fit into the time, at least one."""
        if all(is_known(connection, row) for row in rows):
            return ["unchanged"] * len(rows)
        done: list[Outcome] = []
        with updating_visibility(connection, rows[0]["name"], self.sources):
            surplus = _surplus(connection, rows)
            for row in rows:
                done.append("too_old" if row["version"] in surplus else self._store(connection, row))
                if self.clock() >= end:
                    break
            _prune(connection, rows[0])
        return done

    def _store(self, connection: sqlite3.Connection, row: Row) -> Outcome:
        before = _known(connection, row)
        if _same(before, row):
            return "unchanged"
        if not self._has_room(connection, row, before[2] if before else None):
            return "over_limit"
        connection.execute(_STORE, row)
        if row["latest"]:
            connection.execute(_OUTDATE, row)
        return "changed" if before else "added"

    def _has_room(self, connection: sqlite3.Connection, row: Row, replaced: int | None) -> bool:
        """Return whether `row`, in place of a document of `replaced` bytes if there is one, is within the limits."""
        limits = self.limits.get(row["source"])
        # Limits do not apply to a deletion.
        if limits is None or (replaced is not None and row["deleted"]):
            return True
        names, size = connection.execute(_STORED, (row["source"],)).fetchone() or (0, 0)
        growth = len(row["body"]) - (replaced or 0)
        if growth > 0 and size + growth > limits.bytes:
            return False
        if replaced is not None or names < limits.entries:
            return True
        return connection.execute(_HAS_NAME, (row["name"], row["source"])).fetchone() is not None


def is_known(connection: sqlite3.Connection, row: Row) -> bool:
    """Return whether `row` equals the stored record."""
    return _same(_known(connection, row), row)


def _known(connection: sqlite3.Connection, row: Row) -> tuple[bytes, int, int] | None:
    """Return of the record that `row` would replace its fingerprint, whether it is the latest, and its bytes."""
    found: tuple[bytes, int, int] | None = connection.execute(
        _KNOWN, (row["name"], row["source"], row["version"])
    ).fetchone()
    return found


def _same(before: tuple[bytes, int, int] | None, row: Row) -> bool:
    # A version may become the latest again.
    return before is not None and before[:2] == (row["fingerprint"], row["latest"])


def _surplus(connection: sqlite3.Connection, rows: Sequence[Row]) -> set[str]:
    """Return the versions among `rows`, all of one name and source, that exceed the MAX_VERSIONS to be stored."""
    records = _records(connection, rows[0])
    versions = {record.version: record for record in records}
    if len(versions.keys() | {row["version"] for row in rows}) <= MAX_VERSIONS:
        return set()
    latest = next((row["version"] for row in reversed(rows) if row["latest"]), None)
    if latest is not None:
        versions = {version: evolve(record, latest=False) for version, record in versions.items()}
    for number, row in enumerate(rows, max((record.id for record in records), default=0) + 1):
        fields = {name: row[name] for name in ("source", "version", "deleted", "published_at", "fingerprint")}
        versions[row["version"]] = Record(number, latest=row["version"] == latest, **fields)
    return {record.version for record in _ranked(versions.values())[MAX_VERSIONS:]}


def _prune(connection: sqlite3.Connection, row: Row) -> None:
    """Drop the records of the name and source of `row` that exceed the MAX_VERSIONS to be stored."""
    records = _records(connection, row)
    if len(records) > MAX_VERSIONS:
        connection.executemany(_DROP, [(record.id,) for record in _ranked(records)[MAX_VERSIONS:]])


def _records(connection: sqlite3.Connection, row: Row) -> list[Record]:
    return [Record(*fields) for fields in connection.execute(_VERSIONS, (row["name"], row["source"]))]


def _ranked(records: Iterable[Record]) -> list[Record]:
    """Return `records`, all of one name and source, in order of precedence; see `preferred`."""
    by_age = sorted(records, key=cmp_to_key(later), reverse=True)
    return sorted(by_age, key=lambda record: not record.latest)
