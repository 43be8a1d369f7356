"""Writing a batch of records: each name resolved once, within the limits of its source, in short transactions."""

from __future__ import annotations

import sqlite3
from collections import deque
from collections.abc import Callable, Mapping, Sequence

from attrs import asdict, frozen

from ..domain.changes import Outcome
from ..domain.publishing import SourceLimits, Usage, excess_records, excess_versions, has_room, is_same, rejection
from ..domain.versions import Record
from ._database import Database
from ._visibility import NOW, updating_visibility

TRANSACTION = 0.5
"""Seconds after which a transaction is committed, and the rest of the batch written in another one."""

PAUSE = 0.15
"""Seconds between two such transactions: SQLite looks every tenth of a second whether a lock has been released."""

_COLUMNS = "id, source, version, latest, deleted, published_at, fingerprint"
"""The columns of a Record, in the order of its fields."""

_KNOWN = f"SELECT {_COLUMNS}, length(body) FROM record WHERE name = ? AND source = ? AND version = ?"

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

_VERSIONS = f"SELECT {_COLUMNS} FROM record WHERE name = ? AND source = ?"

_DROP = "DELETE FROM record WHERE id = ?"

_STORED = "SELECT names, bytes FROM stored WHERE source = ?"

_HAS_NAME = "SELECT 1 FROM record WHERE name = ? AND source = ? LIMIT 1"


@frozen
class Row:
    """A record that is to be written, with its document; `analysis` is the version of the Analysis."""

    name: str
    record: Record
    body: bytes
    analysis: str | None = None
    analysed: bytes | None = None

    @property
    def columns(self) -> dict[str, object]:
        """The columns by name."""
        own = {"name": self.name, "body": self.body, "analysis": self.analysis, "analysed": self.analysed}
        return asdict(self.record) | own


@frozen
class Publisher:
    """Writes records of one source at a time. `clock` returns seconds; `pause` sleeps for a number of seconds."""

    database: Database
    sources: Sequence[str]
    limits: Mapping[str, SourceLimits]
    clock: Callable[[], float]
    pause: Callable[[float], object]

    def publish(self, rows: Sequence[Row], *, new: bool = False) -> list[Outcome]:
        """Write `rows`, all of one source; return the outcomes. Raises Unavailable; committed rows stay.

        With `new`, no stored version is replaced or dropped.
        """
        publish = self._add_new if new else self._publish_name
        outcomes: dict[int, Outcome] = {}
        names: dict[str, list[int]] = {}
        for number, row in enumerate(rows):
            names.setdefault(row.name, []).append(number)
        waiting = deque(names.values())
        while waiting:
            with self.database.transaction() as connection:
                end = self.clock() + TRANSACTION
                while waiting:
                    numbers = waiting.popleft()
                    done = publish(connection, [rows[number] for number in numbers], end)
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
        with updating_visibility(connection, rows[0].name, self.sources):
            excess = excess_versions(_records(connection, rows[0]), [row.record for row in rows])
            for row in rows:
                done.append("too_old" if row.record.version in excess else self._store(connection, row))
                if self.clock() >= end:
                    break
            _prune(connection, rows[0])
        return done

    def _add_new(self, connection: sqlite3.Connection, rows: Sequence[Row], _: float) -> list[Outcome]:
        """Write those of `rows`, all of one name, whose versions are not stored."""
        with updating_visibility(connection, rows[0].name, self.sources):
            return [rejection(_records(connection, row), row.record) or self._store(connection, row) for row in rows]

    def _store(self, connection: sqlite3.Connection, row: Row) -> Outcome:
        stored, size = _known(connection, row)
        if is_same(stored, row.record):
            return "unchanged"
        if not self._has_room(connection, row, size):
            return "over_limit"
        columns = row.columns
        connection.execute(_STORE, columns)
        if row.record.latest:
            connection.execute(_OUTDATE, columns)
        return "changed" if stored else "added"

    def _has_room(self, connection: sqlite3.Connection, row: Row, replaced: int | None) -> bool:
        source = row.record.source
        limits = self.limits.get(source)
        usage = Usage() if limits is None else Usage(*connection.execute(_STORED, (source,)).fetchone() or ())

        def has_name() -> bool:
            return connection.execute(_HAS_NAME, (row.name, source)).fetchone() is not None

        return has_room(limits, usage, row.record, len(row.body), replaced=replaced, has_name=has_name)


def is_known(connection: sqlite3.Connection, row: Row) -> bool:
    """Return whether `row` equals the stored record."""
    stored, _ = _known(connection, row)
    return is_same(stored, row.record)


def _known(connection: sqlite3.Connection, row: Row) -> tuple[Record | None, int | None]:
    """Return the record that `row` would replace, and the bytes of its document."""
    found = connection.execute(_KNOWN, (row.name, row.record.source, row.record.version)).fetchone()
    return (Record(*found[:-1]), found[-1]) if found else (None, None)


def _prune(connection: sqlite3.Connection, row: Row) -> None:
    """Drop the records of the name and source of `row` that exceed the versions to be stored."""
    connection.executemany(_DROP, [(each.id,) for each in excess_records(_records(connection, row))])


def _records(connection: sqlite3.Connection, row: Row) -> list[Record]:
    return [Record(*fields) for fields in connection.execute(_VERSIONS, (row.name, row.record.source))]
