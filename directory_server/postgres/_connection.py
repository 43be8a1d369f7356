"""Opening of connections to the database, with the options that each must have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import Format
from psycopg.rows import tuple_row

from ..domain.errors import Unavailable

CONNECT_TIMEOUT = 2
"""Seconds to connect to one host."""

NOW = "extract(epoch FROM clock_timestamp())::double precision"
"""Seconds since the epoch by the clock of the database, in SQL."""

OPTIONS = {
    # A server's default may be `off`; then a crash would return spent quota and let followers miss changes.
    "synchronous_commit": "on",
    # Transactions take a lock and then read what the last holder of the lock wrote.
    "default_transaction_isolation": "read committed",
    "default_transaction_read_only": "off",
    "statement_timeout": "30s",
    "lock_timeout": "5s",
    "idle_in_transaction_session_timeout": "60s",
    "search_path": "public, pg_temp",
    "timezone": "UTC",
    "jit": "off",
}
"""Options of each session, whatever the defaults of the server, the database, the role or `conninfo`."""

SET_OPTIONS = "; ".join(
    f"SET {name} = {value if name == 'search_path' else repr(value)}" for name, value in OPTIONS.items()
)
"""Statements that set the OPTIONS. Not start-up options: poolers reject those."""

_PARAMETERS = {
    "application_name": "directory-server",
    "connect_timeout": CONNECT_TIMEOUT,
    "keepalives": 1,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 5_000,
}
"""Default parameters (PostgreSQL, section 34.1.2); times are in seconds, that of `tcp_user_timeout` in milliseconds."""


class Cursor(psycopg.RawCursor[Any]):
    """A cursor with parameters `$1`, `$2` … and binary results."""

    ends_keys = False
    """Set by a transaction after which keys may have ended."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        super().__init__(connection, row_factory=tuple_row)
        self.format = Format.BINARY

    def one(self, query: str, *parameters: object) -> Any:
        """Run a statement and return its first row, None if there is none."""
        return self.execute(query, parameters).fetchone()

    def all(self, query: str, *parameters: object) -> list[Any]:
        """Run a statement and return its rows, none if it has no result."""
        self.execute(query, parameters)
        rows: list[Any] = self.fetchall() if self.description is not None else []
        return rows


def parameters(conninfo: str) -> Mapping[str, Any]:
    """Return the parameters of a libpq connection string or URL. Raises Unavailable if it is invalid.

    The error does not repeat `conninfo`, which may contain a password.
    """
    try:
        given: dict[str, Any] = conninfo_to_dict(conninfo)
    except psycopg.Error:
        raise Unavailable(
            "database: must be a connection string of PostgreSQL, such as 'host=db.example.org dbname=directory', "
            "or a URL 'postgresql://…'."
        ) from None
    return _PARAMETERS | given | {"client_encoding": "UTF8"}


def connect(given: Mapping[str, Any]) -> psycopg.Connection[Any]:
    """Open a connection with the OPTIONS, in autocommit mode.

    It blocks for up to CONNECT_TIMEOUT seconds for each address, and while names are resolved. Raises psycopg.Error.
    """
    connection: psycopg.Connection[Any] = psycopg.connect(**given, autocommit=True)
    try:
        connection.execute(SET_OPTIONS)
    except BaseException:
        connection.close()
        raise
    return connection
