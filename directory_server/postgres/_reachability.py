"""Whether the database answers: at the start of a process, with clear errors, and while no reactor runs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import psycopg

from ..domain.errors import NEWER_SCHEMA, Unavailable
from ._connection import connect, parameters
from ._database import Database
from ._migrations import missing

MAX_DETAIL = 500
"""Characters of an error of the driver in a message."""

_PLACE = ("host", "hostaddr", "port", "dbname")
"""The parameters in messages: neither the user nor anything that may be secret."""

_BACKEND = "SELECT pg_backend_pid()"


def place(conninfo: str) -> str:
    """Return the host, port and name of a database, as a connection string. Raises Unavailable if it is invalid."""
    given = parameters(conninfo)
    return " ".join(f"{name}={given[name]}" for name in _PLACE if given.get(name)) or "of libpq's defaults"


def check_connection(given: Mapping[str, Any]) -> None:
    """Open two connections with the parameters `given`, and close them. Raises Unavailable with the driver's reason.

    A pooler that gives each transaction another session is rejected: notifications and prepared statements need a
    session.
    """
    try:
        with connect(given) as one, connect(given) as other:
            first = _backend(one)
            with other.transaction():
                # The session of `one` is idle, so such a pooler gives it to the transaction of `other`.
                if _backend(other) == first:
                    raise Unavailable(
                        "The connection goes through a pooler in transaction mode. Connect to PostgreSQL itself, or "
                        "set the pooler to session mode."
                    )
    except psycopg.Error as error:
        raise Unavailable(f"The database rejects the connection: {_detail(error, given)}.") from None


async def upgrade(database: Database) -> Sequence[str]:
    """Bring the schema to this version of the software; return the names of the steps that were run.

    Raises Unavailable, also if the role may not create tables.
    """
    try:
        return await database.upgrade()
    except Unavailable as error:
        cause = error.__cause__
        if not isinstance(cause, psycopg.errors.InsufficientPrivilege):
            raise
        raise Unavailable(
            f"The role may not change the schema: {_detail(cause.diag.message_primary, database.parameters)}. Run "
            "'directory-server database upgrade' with a role that may, such as the owner of the database."
        ) from None


async def check_schema(database: Database, lost: Callable[[str], None]) -> None:
    """Call `lost` with the reason if a newer version has upgraded the schema, and this one cannot use it."""
    try:
        await database.read(missing)
    except Unavailable as error:
        if error.code == NEWER_SCHEMA:
            lost(error.message)


def _backend(connection: psycopg.Connection[Any]) -> int:
    row = connection.execute(_BACKEND).fetchone()
    assert row is not None
    return int(row[0])


def _detail(error: object, given: Mapping[str, Any]) -> str:
    """Return the text of an error in one line, without the password."""
    text, password = " ".join(str(error).split()), str(given.get("password") or "")
    return (text.replace(password, "…") if password else text)[:MAX_DETAIL].rstrip(".")


PROBE = 3.0
"""Seconds between two looks whether a transaction runs, which is then probed."""

PROBES = 2
"""Consecutive probes without an answer, of CONNECT_TIMEOUT seconds each, after which the transactions end."""


class Watchdog:
    """Ends the transactions of `database` when it does not answer while they run, after about ten seconds.

    A stopped server keeps its connections open, and no time-out of libpq ends the waiting for an answer. A statement
    may take long, such as a migration, so its duration shows nothing: a new connection that gets no answer does.
    """

    def __init__(self, database: Database, interval: float = PROBE) -> None:
        self._database = database
        self._interval = interval
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True, name="database watchdog")

    def start(self) -> None:
        """Begin to watch, in a thread."""
        self._thread.start()

    def stop(self) -> None:
        """Stop watching; a running probe ends by itself."""
        self._stopped.set()

    def _watch(self) -> None:
        silent = 0
        while not self._stopped.wait(self._interval):
            silent = silent + 1 if self._database.is_busy and self._is_silent() else 0
            if silent >= PROBES:
                silent = 0
                self._database.interrupt()

    def _is_silent(self) -> bool:
        try:
            psycopg.connect(**self._database.parameters).close()
        except psycopg.errors.ConnectionTimeout:
            return True
        except psycopg.Error:
            # An error is an answer, such as one about too many connections.
            return False
        return False
