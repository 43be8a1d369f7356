"""What the adapters of rows need of a database: statements alone, and functions that run in a transaction."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import wraps
from typing import Any, Concatenate, Literal, ParamSpec, Protocol, TypeVar

from ..domain.ports.storage import Policy

T = TypeVar("T")
S = TypeVar("S")
P = ParamSpec("P")

Row = Any
"""A tuple of columns. Truth values may be 0 or 1."""

Statement = tuple[str, Mapping[str, object] | Sequence[Mapping[str, object]]]
"""A statement with the values of its parameters `:name`, or, with `FROM input(…)`, several rows of them.

See `_dialects` for what statements may use.
"""


class Rows(Protocol):
    """A transaction. Only for the function that got it, in its thread. `policy` has the rules that hide entries.

    Texts in values that some databases cannot hold are replaced, see `storable`: nothing is found by them.
    """

    @property
    def policy(self) -> Policy | None: ...

    def one(self, statement: str, /, **values: object) -> Row:
        """Run a statement and return its first row, None if there is none."""

    def all(self, statement: str, /, **values: object) -> list[Row]:
        """Run a statement and return its rows."""

    def execute(self, statement: str, /, **values: object) -> int:
        """Run a statement and return the number of rows that it changed."""

    def many(self, statement: str, values: Sequence[Mapping[str, object]], /) -> None:
        """Run a statement for `values`, in one round trip; nothing if there are none.

        A statement with `FROM input(…)` gets its columns from `values`, and other parameters from the first of them.
        Other statements run once for each of `values`.
        """

    def together(self, *statements: Statement) -> list[list[Row]]:
        """Run statements in one round trip; return the rows of each. SQLite skips those that call `pg_` functions."""

    def finish(self, *statements: Statement) -> list[list[Row]]:
        """Run the last statements of the transaction; return the rows of each.

        PostgreSQL runs them and commits in one round trip. Statements are as in `together`.
        """

    def lock(self, statement: str, /, **values: object) -> None:
        """Wait for a lock that ends with the transaction.

        SQLite does nothing, because its writing transactions exclude each other.
        """

    def end_keys(self, key_ids: Sequence[str]) -> None:
        """Make all processes check the validity of `key_ids` after the commit. The last call of a transaction.

        SQLite does nothing, because triggers count the writes that end a key.
        """


class Write(Protocol):
    """Runs a function in a transaction, as Tables.write does."""

    async def __call__(self, function: Callable[[Rows], T], /) -> T: ...


class Tables(ABC):
    """The tables of a database. All methods are for the reactor's thread, and raise Unavailable.

    Where a short statement can do without a thread, a database has other `one`, `all` and `run`.
    """

    async def one(self, statement: str, /, **values: object) -> Row:
        """Return the first row of a short statement that reads, None if there is none."""
        return await self.read(lambda rows: rows.one(statement, **values))

    async def all(self, statement: str, /, **values: object) -> Sequence[Row]:
        """Return the few rows of a short statement that reads."""
        return await self.select(statement, **values)

    async def select(self, statement: str, /, **values: object) -> Sequence[Row]:
        """Return the rows of a statement that reads, which may take long: it runs in a thread."""
        return await self.read(lambda rows: rows.all(statement, **values))

    async def run(self, statement: str, /, **values: object) -> Sequence[Row]:
        """Run a short statement that writes, in a transaction of its own; return its rows."""
        return await self.write(lambda rows: rows.all(statement, **values))

    @abstractmethod
    async def read(self, function: Callable[[Rows], T]) -> T:
        """Return the result of `function`, called in a thread, with a constant snapshot of all tables."""

    @abstractmethod
    async def write(self, function: Callable[[Rows], T], *, waits: bool = True) -> T:
        """Return the result of `function`, called in a thread, in a transaction that is committed unless it raises.

        Of a failed transaction nothing is written, and PostgreSQL may call `function` again. Without `waits`, SQLite
        does not wait for the lock of another transaction.
        """


def transaction(
    function: Callable[Concatenate[S, Rows, P], T],
) -> Callable[Concatenate[S, P], Coroutine[Any, Any, T]]:
    """Return a method that calls `function` as `Tables.write` does. Its object has `_tables`."""
    return _method("write", function)


def snapshot(
    function: Callable[Concatenate[S, Rows, P], T],
) -> Callable[Concatenate[S, P], Coroutine[Any, Any, T]]:
    """Return a method that calls `function` as `Tables.read` does. Its object has `_tables`."""
    return _method("read", function)


def _method(
    name: Literal["read", "write"], function: Callable[Concatenate[S, Rows, P], T]
) -> Callable[Concatenate[S, P], Coroutine[Any, Any, T]]:
    @wraps(function)
    async def run(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> T:
        result: T = await getattr(self._tables, name)(lambda rows: function(self, rows, *args, **kwargs))
        return result

    return run
