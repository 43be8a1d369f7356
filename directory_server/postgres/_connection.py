"""Opening of connections to the database, with the options that each must have."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import Any, Self

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import Format
from psycopg.rows import tuple_row
from psycopg.waiting import Ready

from ..domain.errors import Unavailable

CONNECT_TIMEOUT = 2
"""Seconds to connect to one host."""

ANSWER = 2.0
"""Seconds without a byte in which a new connection must answer, and an idle one the begin of a transaction."""

COMMIT = 5.0
"""Seconds without an answer to a commit. No time-out of the server ends the waiting for a standby."""

FINISH = 10.0
"""Seconds without a byte of the answers to statements that are sent with a commit, above `lock_timeout`."""

STATEMENT = 35.0
"""Seconds without a byte of the answer to a statement, above `statement_timeout`."""

_INTERVAL = 0.1
"""Seconds between two looks whether the time has passed, and for signals."""

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
    # The server, too, must notice that a machine has gone. On a UNIX socket they have no effect.
    "tcp_keepalives_idle": "10s",
    "tcp_keepalives_interval": "3s",
    "tcp_keepalives_count": "3",
    "tcp_user_timeout": "20s",
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


Statement = tuple[str, Sequence[object]]
"""A statement with its parameters `$1`, `$2` …."""

_HAS_WRITTEN: Statement = ("SELECT pg_current_xact_id_if_assigned() IS NOT NULL", ())


class NoAnswer(psycopg.OperationalError):
    """The server has sent nothing for too long. The connection is closed."""


class Connection(psycopg.Connection[Any]):
    """A connection whose waiting has a bound: no time-out of libpq ends the waiting for an answer.

    A statement without an answer raises NoAnswer.
    """

    patience: float | None = ANSWER
    """Seconds without a byte of the answer; None for no bound."""

    is_unheard = True
    """Whether nothing has come since the transaction began: the answer to BEGIN must come within ANSWER."""

    def wait(self, gen: Any, interval: float = _INTERVAL, timeout: float | None = None) -> Any:
        bounded = gen if self.patience is None else self._bounded(gen, self.patience, interval)
        return super().wait(bounded, interval, *([] if timeout is None else [timeout]))

    def _bounded(self, waiting: Generator[Any, Any, Any], patience: float, interval: float) -> Generator[Any, Any, Any]:
        """Pass on what psycopg's generator `waiting` waits for, until nothing has come for `patience` seconds."""
        ready, silence = None, 0.0
        while True:
            try:
                state = waiting.send(ready)
            except StopIteration as done:
                return done.value
            ready = yield state
            # psycopg sends 0 after each `interval` in which nothing has come.
            silence = 0.0 if ready else silence + interval
            self.is_unheard &= not (ready & Ready.R)
            limit = min(patience, ANSWER) if self.is_unheard else patience
            if silence >= limit:
                self.close()
                raise NoAnswer(f"no answer for {limit:g} seconds")


class Cursor(psycopg.RawCursor[Any]):
    """A cursor of a transaction, with parameters `$1`, `$2` … and binary results."""

    ends_keys = False
    """Set by a transaction after which keys may have ended."""

    begin: str | None = None
    """The statement that begins the transaction. It is sent with the first statement."""

    has_begun = False
    """Whether the first statement has succeeded, or the transaction may be committed."""

    has_finished: bool | None = None
    """Whether the transaction wrote something, once `finish` has committed it."""

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection, row_factory=tuple_row)
        self.format = Format.BINARY
        self.bounds = connection
        """The connection, whose waiting is bounded."""

    def unlimit(self) -> None:
        """Let the further statements of the transaction, and its commit, take any time."""
        self.execute("SET LOCAL statement_timeout = 0")
        self.bounds.patience = None

    def execute(self, query: Any, params: Any = None, **options: Any) -> Self:
        if self.begin is None:
            return super().execute(query, params, **options)
        if params is None:
            # Maybe several statements, which a pipeline does not allow.
            self._begin()
            self.has_begun = True
            return super().execute(query, **options)
        with self.connection.pipeline() as pipeline:
            self._begin(pipeline)
            super().execute(query, params, **options)
        self.has_begun = True
        return self

    def copy(self, *arguments: Any, **options: Any) -> Any:
        self._begin()
        self.has_begun = True
        return super().copy(*arguments, **options)

    def one(self, query: str, *parameters: object) -> Any:
        """Run a statement and return its first row, None if there is none."""
        return self.execute(query, parameters).fetchone()

    def all(self, query: str, *parameters: object) -> list[Any]:
        """Run a statement and return its rows, none if it has no result."""
        self.execute(query, parameters)
        return self._rows()

    def together(self, *statements: Statement) -> list[list[Any]]:
        """Run statements in one round trip; return the rows of each. After one that fails, no other is run."""
        return self._pipelined(statements)

    def finish(self, *statements: Statement) -> list[list[Any]]:
        """Run statements as `together`, and commit the transaction in the same round trip."""
        self.has_begun = True
        if self.bounds.patience is not None:
            self.bounds.patience = FINISH
        *rows, [(self.has_finished,)], _ = self._pipelined((*statements, _HAS_WRITTEN, ("COMMIT", ())))
        return rows

    def has_written(self) -> bool:
        """Return whether the transaction has written something so far."""
        return bool(self.one(_HAS_WRITTEN[0])[0]) if self.has_finished is None else self.has_finished

    def _begin(self, pipeline: psycopg.Pipeline | None = None) -> None:
        if self.begin is not None:
            begin, self.begin = self.begin, None
            self.bounds.is_unheard = True
            self.connection.execute(begin)
            _flush(pipeline)

    def _pipelined(self, statements: Sequence[Statement]) -> list[list[Any]]:
        cursors = []
        with self.connection.pipeline() as pipeline:
            self._begin(pipeline)
            for query, parameters in statements:
                cursors.append(Cursor(self.bounds).execute(query, parameters))
                _flush(pipeline)
        self.has_begun = True
        return [cursor._rows() for cursor in cursors]

    def _rows(self) -> list[Any]:
        return self.fetchall() if self.description is not None else []


def _flush(pipeline: psycopg.Pipeline | None) -> None:
    """Make the server send the answer at once: a byte for each statement, before the next one takes its time."""
    if pipeline is not None:
        pipeline.command_queue.append(pipeline.pgconn.send_flush_request)


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


def connect(given: Mapping[str, Any], *statements: str) -> Connection:
    """Open a connection with the OPTIONS, in autocommit mode; then run `statements`.

    It blocks for up to CONNECT_TIMEOUT seconds for each address, then for ANSWER, and while names are resolved. Raises
    psycopg.Error.
    """
    connection = Connection.connect(**given, autocommit=True)
    try:
        connection.execute("; ".join([SET_OPTIONS, *statements]))
    except BaseException:
        connection.close()
        raise
    return connection
