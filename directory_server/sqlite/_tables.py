"""The Tables on SQLite."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from attrs import frozen

from .. import serialization
from ..domain.ports.runtime import Offload
from ..domain.ports.storage import Policy
from ..run_sync import inline
from ..tables import Rows, Statement, sqlite_statement
from ._database import Database

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
        self.connection.executemany(sqlite_statement(statement)[0], values)

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
        if lists:
            values = {**values, **{name: serialization.text(values[name]) for name in lists}}
        return self.connection.execute(text, values)


@frozen
class SqliteTables:
    """The tables of `database`; `reads` and `writes` run what may block."""

    database: Database
    reads: Offload = inline
    writes: Offload = inline

    async def one(self, statement: str, /, **values: object) -> Any:
        return await self.database.read(lambda connection: SqliteRows(connection).one(statement, **values))

    async def all(self, statement: str, /, **values: object) -> Sequence[Any]:
        return await self.database.read(lambda connection: SqliteRows(connection).all(statement, **values))

    async def run(self, statement: str, /, **values: object) -> Sequence[Any]:
        return await self.write(lambda rows: rows.all(statement, **values))

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
