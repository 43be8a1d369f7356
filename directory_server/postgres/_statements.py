"""Single statements: what runs them, and the trial that shows that requests can be charged again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import psycopg
from twisted.internet.defer import Deferred

from ..domain.ports.runtime import Offload
from ._availability import Availability, Proof
from ._connection import Cursor
from ._database import Database

OPTIONS = "SET statement_timeout = '1500ms'; SET enable_seqscan = off"
"""The time-out is below ANSWER: a slow statement or a lock ends its statement, and not the connection.

Plans are kept, maybe from a time when a table was empty. The statements read a few rows, by an index.
"""

Row = tuple[Any, ...]


def always(rows: Sequence[Row]) -> bool:
    """Return True: any success of the statement that returned `rows` shows what it can."""
    return True


class Statements(Protocol):
    """Single statements: a Session, or a Database."""

    async def run(
        self,
        statement: str,
        *parameters: object,
        shows: Proof = Proof.ANSWER,
        wrote: Callable[[Sequence[Row]], bool] = always,
    ) -> Sequence[Row]:
        """Run a statement with parameters `$1`, `$2` … in a transaction of its own; return its rows.

        A success shows `shows` to the Availability if `wrote` returns True for its rows. Raises Unavailable. If the
        connection is lost meanwhile, it is unknown whether the statement was executed.
        """


def record_failure(availability: Availability, error: BaseException, shows: Proof = Proof.ANSWER) -> None:
    """Record that a connection cannot be opened or used; `shows` is what its statement would have shown."""
    if not isinstance(error, psycopg.Error) or availability.raised(error, shows) is None:
        # For example a wrong password, or no descriptor; it has no other effect than a server that is away.
        availability.failed("no connection can be opened", f"{type(error).__name__}: {error}", shows)


class Trial:
    """A charge of no key while only a charge ends the fault of the database, because those of clients fail at once.

    `charge` is a statement that can be repeated, with its parameters. It runs in a thread of `offload`, on a connection
    of its own: others would wait behind it.
    """

    def __init__(self, database: Database, offload: Offload, charge: tuple[str, Sequence[object]]) -> None:
        self._database = database
        self._offload = offload
        self._charge = charge
        self._runs = False

    def begin(self) -> None:
        """Charge once, if that is needed and no trial runs."""
        if self._database.availability.needs(Proof.CHARGE) and not self._runs:
            self._runs = True
            Deferred.fromCoroutine(self._run())

    async def _run(self) -> None:
        try:
            await self._offload(self._try)
        except Exception as error:
            record_failure(self._database.availability, error, Proof.CHARGE)
        finally:
            self._runs = False

    def _try(self) -> None:
        statement, parameters = self._charge
        connection = self._database.open(OPTIONS)
        try:
            Cursor(connection).all(statement, *parameters)
        finally:
            self._database.discard(connection)
        self._database.availability.succeeded(Proof.CHARGE)
