"""The Tables on PostgreSQL, and the cache of look-ups of keys on them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from attrs import frozen

from ..domain.keys import CACHED, ApiKey, newest_half
from ..domain.ports.storage import Policy
from ..tables import FIND_KEY, Rows, Tables, found_key, input_columns, postgres_statement, storable_value
from ..tables import Statement as NamedStatement
from ._connection import Cursor, Statement
from ._database import Database
from ._pulse import Pulse, end_keys
from ._statements import Statements

T = TypeVar("T")


def numbered(statement: str, values: Mapping[str, object] | Sequence[Mapping[str, object]]) -> Statement:
    """Return `statement` with parameters `$1`, `$2` …, and their values; rows of `input` become arrays."""
    if not isinstance(values, Mapping):
        arrays = {column: [row[column] for row in values] for column in input_columns(statement)}
        values = {**values[0], **arrays}
    text, names = postgres_statement(statement)
    return text, [storable_value(values[name]) for name in names]


@frozen
class PostgresRows:
    """A transaction."""

    cursor: Cursor
    policy: Policy | None = None

    def one(self, statement: str, /, **values: object) -> Any:
        text, parameters = numbered(statement, values)
        return self.cursor.one(text, *parameters)

    def all(self, statement: str, /, **values: object) -> list[Any]:
        text, parameters = numbered(statement, values)
        return self.cursor.all(text, *parameters)

    def execute(self, statement: str, /, **values: object) -> int:
        return self.cursor.execute(*numbered(statement, values)).rowcount

    def many(self, statement: str, values: Sequence[Mapping[str, object]], /) -> None:
        if not values:
            return
        if input_columns(statement):
            self.cursor.execute(*numbered(statement, values))
        else:
            self.cursor.together(*(numbered(statement, row) for row in values))

    def together(self, *statements: NamedStatement) -> list[list[Any]]:
        return self.cursor.together(*(numbered(*statement) for statement in statements))

    def finish(self, *statements: NamedStatement) -> list[list[Any]]:
        return self.cursor.finish(*(numbered(*statement) for statement in statements))

    def lock(self, statement: str, /, **values: object) -> None:
        self.cursor.execute(*numbered(statement, values))

    def end_keys(self, key_ids: Sequence[str]) -> None:
        end_keys(self.cursor, key_ids)


@frozen
class PostgresTables(Tables):
    """The tables of `database`. `statements` runs short ones; by default they are transactions."""

    database: Database
    statements: Statements | None = None

    async def one(self, statement: str, /, **values: object) -> Any:
        rows = await self.run(statement, **values)
        return rows[0] if rows else None

    async def all(self, statement: str, /, **values: object) -> Sequence[Any]:
        return await self.run(statement, **values)

    async def run(self, statement: str, /, **values: object) -> Sequence[Any]:
        text, parameters = numbered(statement, values)
        return await (self.statements or self.database).run(text, *parameters)

    async def read(self, function: Callable[[Rows], T]) -> T:
        return await self.database.read(lambda cursor: function(PostgresRows(cursor)))

    async def write(self, function: Callable[[Rows], T], *, waits: bool = True) -> T:
        return await self.database.write(lambda cursor: function(PostgresRows(cursor, self.database.policy)))


class PostgresKeyCache:
    """A KeyCache of look-ups, by `statements`, until the `pulse` says that the key may have ended.

    A revoked key ends at once in this process, and within a second in others.
    """

    def __init__(self, statements: Statements, pulse: Pulse) -> None:
        self._statements = statements
        self._pulse = pulse
        self._known: dict[bytes, tuple[ApiKey, float, int]] = {}
        self._generation = 0

    def get(self, given: bytes, now: float) -> ApiKey | None:
        if not self._pulse.is_fresh or self._pulse.generation != self._generation:
            return None
        key, end, counter = self._known.get(given, (None, 0.0, 0))
        is_valid = key is not None and now < end and self._pulse.ended.get(key.id, counter) <= counter
        return key if is_valid else None

    def __contains__(self, given: bytes) -> bool:
        return given in self._known

    async def look_up(self, given: bytes, now: float) -> ApiKey | None:
        reading = self._pulse.begin()
        statement, parameters = numbered(FIND_KEY, {"digest": given, "now": now})
        rows = await self._statements.run(statement, *parameters)
        if not rows:
            return None
        key, end, counter = found_key(rows[0])
        if self._pulse.confirm(reading, counter, is_poll=False):
            self._keep(given, key, end, counter)
        return key

    def _keep(self, given: bytes, key: ApiKey, end: float, counter: int) -> None:
        if self._pulse.generation != self._generation:
            self._known, self._generation = {}, self._pulse.generation
        elif len(self._known) >= CACHED:
            self._known = newest_half(self._known)
        self._known[given] = key, end, counter
