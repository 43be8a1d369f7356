"""Periodic work: tasks that one of all processes performs, and reports of each process for the command `status`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from attrs import astuple, frozen
from twisted.logger import Logger

from ..domain.errors import Unavailable
from ._connection import NOW, Cursor
from ._database import Database
from ._statements import Statements

_log = Logger()

UPKEEP_INTERVAL = 60.0
"""Seconds after which a process looks for tasks that are due."""

# A time that is too far ahead was written before the clock of the database was set back.
_CLAIM = f"""
    INSERT INTO task (name, due) VALUES ($1::text, {NOW} + $2::float8)
    ON CONFLICT (name) DO UPDATE SET due = excluded.due
        WHERE task.due <= {NOW} OR task.due > {NOW} + $2::float8
    RETURNING true
"""


@frozen
class Task:
    """A task that one of all processes performs every `interval` seconds. A failed run is not repeated before."""

    name: str
    interval: float
    run: Callable[[], Awaitable[None]]


async def run_due(database: Database, tasks: Sequence[Task]) -> None:
    """Run the tasks that are due and that no other process has begun. Nothing runs without the database."""
    for task in tasks:
        try:
            if await database.run(_CLAIM, task.name, task.interval):
                await task.run()
        except Unavailable as error:
            _log.debug("The task {name} could not be run: {reason}", name=task.name, reason=error.message)


REPORT_INTERVAL = 10.0
"""Seconds between two reports of a process, and between two searches for abandoned transactions."""

ABANDONED = 30.0
"""Seconds in which the server waits for the client of a transaction, from which on the transaction is abandoned."""

GONE = 60.0
"""Seconds without a report after which a process does not run any more."""

_REPORT = f"""
    INSERT INTO node (id, version, config, analysis, seen_at) VALUES ($1, $2, $3, $4, {NOW})
    ON CONFLICT (id) DO UPDATE SET
        version = excluded.version, config = excluded.config, analysis = excluded.analysis, seen_at = excluded.seen_at
"""

_FORGET = f"""
    DELETE FROM node WHERE id IN (SELECT id FROM node WHERE seen_at < {NOW} - $1::float8 FOR UPDATE SKIP LOCKED)
"""

_LIST = f"SELECT id, version, config, analysis FROM node WHERE seen_at >= {NOW} - $1::float8 ORDER BY id"


# `idle_in_transaction_session_timeout` starts when the server is ready for a query, and any message stops it. A client
# that falls silent between two messages, or after a Flush, as psycopg sends it at the end of a pipeline, has no bound.
_END_ABANDONED = """
    SELECT pid, coalesce(host(client_addr), 'a UNIX socket'), pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND usename = current_user
        AND application_name = current_setting('application_name')
        AND xact_start IS NOT NULL AND wait_event_type = 'Client'
        AND state_change < clock_timestamp() - make_interval(secs => $1::float8)
"""


@frozen
class Node:
    """A running process.

    `config` is a digest of the settings that must be the same in all processes. `analysis` is the version of the
    Analysis that the process uses, None for software that does not report it.
    """

    id: str
    version: str
    config: bytes
    analysis: str | None


async def report_node(database: Database, node: Node) -> None:
    """Write the row of this process, `node`; delete those of processes that are gone.

    The write also notices that a database with a full disk works again.
    """

    def write(cursor: Cursor) -> None:
        cursor.execute(_REPORT, astuple(node))
        cursor.execute(_FORGET, (GONE,))

    try:
        await database.write(write)
    except Unavailable as error:
        _log.debug("This process cannot be reported: {reason}", reason=error.message)


async def end_abandoned(statements: Statements) -> None:
    """End the sessions of processes of any machine that hold a transaction and have been silent for ABANDONED seconds.

    A frozen process or machine would otherwise keep its locks.
    """
    try:
        for pid, client, _ in await statements.run(_END_ABANDONED, ABANDONED):
            _log.warn("Abandoned transaction ended: session {pid} of {client}", pid=pid, client=client)
    except Unavailable as error:
        _log.debug("Abandoned transactions cannot be looked for: {reason}", reason=error.message)


async def running_nodes(database: Database) -> Sequence[Node]:
    """Return the processes that have reported in the last GONE seconds, by id. Raises Unavailable."""
    rows = await database.read(lambda cursor: cursor.all(_LIST, GONE))
    return [Node(node_id, version, bytes(config), analysis) for node_id, version, config, analysis in rows]
