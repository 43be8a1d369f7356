"""Tables in a file of their own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from ..domain.errors import Unavailable
from ..domain.ports.runtime import Offload
from ..run_sync import inline
from ..tables import Rows
from ._database import Database, Schema
from ._tables import SqliteRows

T = TypeVar("T")


class SeparateTables:
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

    async def one(self, statement: str, /, **values: object) -> Any:
        return await self.read(lambda rows: rows.one(statement, **values))

    async def all(self, statement: str, /, **values: object) -> Sequence[Any]:
        return await self.read(lambda rows: rows.all(statement, **values))

    async def run(self, statement: str, /, **values: object) -> Sequence[Any]:
        return await self.write(lambda rows: rows.all(statement, **values))

    async def read(self, function: Callable[[Rows], T]) -> T:
        return await self._offload(self._read, function)

    async def write(self, function: Callable[[Rows], T], *, waits: bool = True) -> T:
        return await self._offload(self._write, function, waits)

    def close(self) -> None:
        """Close the file after its current uses."""
        with self._opening:
            self._is_closed = True
            if self._database is not None:
                self._database.close()

    def _read(self, function: Callable[[Rows], T]) -> T:
        with self._opened().snapshot() as connection:
            return function(SqliteRows(connection))

    def _write(self, function: Callable[[Rows], T], waits: bool) -> T:
        with self._opened().transaction(wait=None if waits else 0) as connection:
            return function(SqliteRows(connection))

    def _opened(self) -> Database:
        with self._opening:
            if self._is_closed:
                raise Unavailable(f"{self._schema}.db is closed.")
            if self._database is None:
                self._database = Database(self._folder, self._schema)
            return self._database
