"""The Tables on PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from attrs import frozen

from ..domain.ports.storage import Policy
from ..tables import Rows, input_columns, postgres_statement
from ..tables import Statement as NamedStatement
from ._connection import Cursor, Statement
from ._database import Database
from ._link import Statements
from ._pulse import end_keys

T = TypeVar("T")


def numbered(statement: str, values: Mapping[str, object] | Sequence[Mapping[str, object]]) -> Statement:
    """Return `statement` with parameters `$1`, `$2` …, and their values; rows of `input` become arrays."""
    if not isinstance(values, Mapping):
        arrays = {column: [row[column] for row in values] for column in input_columns(statement)}
        values = {**values[0], **arrays}
    text, names = postgres_statement(statement)
    return text, [values[name] for name in names]


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
class PostgresTables:
    """The tables of `database`. `link` runs short statements; by default they run in a thread."""

    database: Database
    link: Statements | None = None

    async def one(self, statement: str, /, **values: object) -> Any:
        rows = await self.run(statement, **values)
        return rows[0] if rows else None

    async def all(self, statement: str, /, **values: object) -> Sequence[Any]:
        return await self.run(statement, **values)

    async def run(self, statement: str, /, **values: object) -> Sequence[Any]:
        text, parameters = numbered(statement, values)
        return await (self.link or self.database).run(text, *parameters)

    async def read(self, function: Callable[[Rows], T]) -> T:
        return await self.database.read(lambda cursor: function(PostgresRows(cursor)))

    async def write(self, function: Callable[[Rows], T], *, waits: bool = True) -> T:
        return await self.database.write(lambda cursor: function(PostgresRows(cursor, self.database.policy)))
