"""The Tables on SQLite, also in a file of their own, and the cache of look-ups of keys on them."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from attrs import frozen

from .. import serialization
from ..domain.errors import Unavailable
from ..domain.keys import CACHED, ApiKey, newest_half
from ..domain.ports.runtime import Offload, Turn
from ..domain.ports.storage import Policy
from ..runtime.run_sync import inline
from ..tables import FIND_KEY, Rows, Statement, Tables, found_key, sqlite_statement, storable_value
from ._database import Database, Schema, data_version

T = TypeVar("T")

_ONLY_POSTGRES = "SELECT pg_"
"""The begin of locks and notifications."""


@frozen
class SqliteRows:
    """A transaction, or a connection that only reads."""

    connection: sqlite3.Connection
    policy: Policy | None = None

    def one(self, statement: str, /, **values: object) -> Any:
        return self._run(statement, values).fetchone()

    def all(self, statement: str, /, **values: object) -> list[Any]:
        return self._run(statement, values).fetchall()

    def execute(self, statement: str, /, **values: object) -> int:
        return self._run(statement, values).rowcount

    def many(self, statement: str, values: Sequence[Mapping[str, object]], /) -> None:
        self.connection.executemany(sqlite_statement(statement)[0], map(_storable, values))

    def together(self, *statements: Statement) -> list[list[Any]]:
        return [self._rows(*statement) for statement in statements]

    def finish(self, *statements: Statement) -> list[list[Any]]:
        return self.together(*statements)

    def lock(self, statement: str, /, **values: object) -> None:
        """Do nothing: writing transactions exclude each other."""

    def end_keys(self, key_ids: Sequence[str]) -> None:
        """Do nothing: triggers count the writes that end a key."""

    def _rows(self, statement: str, values: Mapping[str, object] | Sequence[Mapping[str, object]]) -> list[Any]:
        if statement.startswith(_ONLY_POSTGRES):
            return []
        if isinstance(values, Mapping):
            return self.all(statement, **values)
        self.many(statement, values)
        return []

    def _run(self, statement: str, values: Mapping[str, object]) -> sqlite3.Cursor:
        text, lists = sqlite_statement(statement)
        values = _storable(values)
        return self.connection.execute(text, {**values, **{name: serialization.text(values[name]) for name in lists}})


def _storable(values: Mapping[str, object]) -> Mapping[str, object]:
    return {name: storable_value(value) for name, value in values.items()}


@frozen
class SqliteTables(Tables):
    """The tables of `database`; `reads` and `writes` run what may block."""

    database: Database
    reads: Offload = inline
    writes: Offload = inline

    async def one(self, statement: str, /, **values: object) -> Any:
        return await self.database.read(lambda connection: SqliteRows(connection).one(statement, **values))

    async def all(self, statement: str, /, **values: object) -> Sequence[Any]:
        return await self.database.read(lambda connection: SqliteRows(connection).all(statement, **values))

    async def read(self, function: Callable[[Rows], T]) -> T:
        def read() -> T:
            with self.database.snapshot() as connection:
                return function(SqliteRows(connection))

        return await self.reads(read)

    async def write(self, function: Callable[[Rows], T], *, waits: bool = True) -> T:
        def write() -> T:
            with self.database.transaction(wait=None if waits else 0) as connection:
                return function(SqliteRows(connection, self.database.policy))

        return await self.writes(write)


_Keys = dict[bytes, tuple[ApiKey, float]]
"""Keys by the digests of their secrets, each with the time when the key or the secret ends."""

# Triggers count the writes that change or end a key.
_PULSE = "SELECT keys FROM pulse"


class SqliteKeyCache:
    """A KeyCache of look-ups in the data directory, until any process changes or ends a key.

    So a key that is revoked in one process is rejected by all. Whether another process has done so is checked once in
    each `turn` of the reactor.
    """

    def __init__(self, database: Database, turn: Turn) -> None:
        self._database = database
        self._turn = turn
        self._checked: _Keys | None = None
        """The keys that were valid when a look-up of the current turn read the database; None before that."""
        # One tuple, replaced as a whole, because two threads may look up keys at the same time.
        self._known: tuple[object, int, _Keys] = None, -1, {}

    def get(self, given: bytes, now: float) -> ApiKey | None:
        key, end = (None, 0.0) if self._checked is None else self._checked.get(given, (None, 0.0))
        return key if now < end else None

    def __contains__(self, given: bytes) -> bool:
        return given in self._known[2]

    async def look_up(self, given: bytes, now: float) -> ApiKey | None:
        # The function may run in another thread, which has another connection.
        key = await self._database.read(partial(self._find, given, now, self._checked))
        is_first = self._checked is None
        self._checked = self._known[2]
        if is_first:
            self._turn.at_end(self._forget_checked)
        return key

    def _find(self, given: bytes, now: float, checked: _Keys | None, connection: sqlite3.Connection) -> ApiKey | None:
        # Keys that were checked in this turn are checked again in the next one, and with them those that are added.
        cached = self._current(connection) if checked is None else checked
        key, end = cached.get(given, (None, 0.0))
        if now < end:
            return key
        row = SqliteRows(connection).one(FIND_KEY, digest=given, now=now)
        if row is None:
            return None
        key, end, _ = found_key(row)
        cached[given] = key, end
        return key

    def _current(self, connection: sqlite3.Connection) -> _Keys:
        """Return the cached keys; none if this or any other connection has changed or ended a key since."""
        # data_version counts the writes of other connections, and is comparable only within one connection. It is read
        # before the counter: a write between the two is noticed by the next look-up.
        version = connection, data_version(connection), connection.total_changes
        known_version, known_pulse, keys = self._known
        if version != known_version or len(keys) > CACHED:
            (pulse,) = connection.execute(_PULSE).fetchone()
            if pulse != known_pulse:
                keys = {}
            elif len(keys) > CACHED:
                keys = newest_half(keys)
            self._known = version, pulse, keys
        return keys

    def _forget_checked(self) -> None:
        self._checked = None


class SeparateTables(Tables):
    """The tables of a file of `folder`, which the first use creates; `offload` runs all uses.

    The faults of this file do not count as faults of the data directory.
    """

    def __init__(self, folder: Path, schema: Schema, offload: Offload = inline) -> None:
        self._folder = folder
        self._schema = schema
        self._offload = offload
        self._opening = threading.Lock()
        self._database: Database | None = None
        self._is_closed = False

    async def read(self, function: Callable[[Rows], T]) -> T:
        return await self._offload(self._run, Database.snapshot, function)

    async def write(self, function: Callable[[Rows], T], *, waits: bool = True) -> T:
        return await self._offload(self._run, Database.transaction, function)

    def close(self) -> None:
        """Close the file after its current uses."""
        with self._opening:
            self._is_closed = True
            if self._database is not None:
                self._database.close()

    def _run(
        self, begin: Callable[[Database], AbstractContextManager[sqlite3.Connection]], function: Callable[[Rows], T]
    ) -> T:
        with begin(self._opened()) as connection:
            return function(SqliteRows(connection))

    def _opened(self) -> Database:
        with self._opening:
            if self._is_closed:
                raise Unavailable(f"{self._schema}.db is closed.")
            if self._database is None:
                self._database = Database(self._folder, self._schema)
            return self._database
