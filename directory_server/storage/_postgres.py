"""Storage in a PostgreSQL database, for the processes of one or several machines."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from typing import Any

from attrs import astuple, frozen
from twisted.application.service import IService, MultiService

from .. import __version__, postgres, sqlite, tables
from ..config import Config
from ..domain.errors import BadInput
from ..domain.ports.runtime import Offload
from ..domain.transfers import Imported, Restored
from ..runtime.run_sync import inline, run_sync
from ..runtime.timers import Timer
from ..search import TextAnalysis
from ._storage import Environment, policy_of, source_limits, upstream_names

SESSIONS = 2
"""Connections of a server besides those for transactions."""


def upgrade(config: Config) -> Sequence[str]:
    """Run the missing steps of the schema of the database; return their names. Raises Unavailable."""
    with _command_database(config) as database:
        return run_sync(postgres.upgrade(database))


def import_folder(config: Config, folder: Path) -> Imported:
    """Copy the data directory `folder` to the database; return what was imported.

    Raises BadInput and Unavailable.
    """
    with _command_database(config) as database:
        run_sync(postgres.upgrade(database))
        with sqlite.export(folder) as source:
            return run_sync(postgres.import_data(source, database))


@contextmanager
def _command_database(config: Config) -> Iterator[postgres.Database]:
    """Return the database of `config`, watched and then closed. Raises Unavailable."""
    database = _database(config)
    watchdog = postgres.Watchdog(database)
    watchdog.start()
    try:
        yield database
    finally:
        watchdog.stop()
        database.close()


def open_postgres(config: Config, environment: Environment) -> tables.Storage:
    """Open the database and bring its schema to this version. Raises Unavailable."""
    database = _database(config, environment.offload, environment.wall, environment.reactor)
    database.policy = policy_of(config)
    # Until the reactor runs, whose sessions then notice that the database has stopped.
    watchdog = postgres.Watchdog(database)
    watchdog.start()
    run_sync(postgres.upgrade(database))
    now = postgres.DatabaseClock(environment.now, environment.monotonic)
    run_sync(now.measure(database))
    last_read = postgres.LastRead()
    connected = None if environment.reactor is None else _connect(database, last_read, now, environment)
    charges, reads = (None, None) if connected is None else (connected.charges, connected.reads)
    quota = postgres.PostgresQuota(charges or database, pruning=database)
    access = postgres.PostgresTables(database, reads)
    followers = tables.StoredFollowers(access)
    attempts = postgres.PostgresAttempts(database, statements=reads)
    limits = source_limits(config)
    analysis = TextAnalysis()
    names, accounts, node = upstream_names(config), config.accounts, _node(config)
    store = postgres.postgres_store(database, environment.offload, analysis, names, limits, reads, last_read)

    tasks = [
        postgres.Task("quota", 3_600.0, quota.prune),
        postgres.Task("analyses", 3_600.0, partial(postgres.prune_analyses, database, analysis.version)),
        postgres.Task("attempts", 60.0, attempts.prune),
    ]

    async def after_restore(newer: Path | None) -> Restored:
        if newer is not None:
            raise BadInput("--newer: is for SQLite only.")
        return await postgres.after_restore(database)

    def close() -> None:
        watchdog.stop()
        database.close()

    cache = tables.NoCache(access) if connected is None else connected.keys
    return tables.Storage(
        is_shared=True,
        store=store,
        curation=tables.StoredCuration(access, names),
        mirrors=tables.StoredMirrors(access, followers),
        followers=followers,
        work=tables.StoredWork(access),
        people=tables.people(access, now, cache, quota, attempts, accounts.idle, accounts.absolute),
        control=tables.Control(
            serving=partial(_serving, database, connected, tasks, node, environment),
            session_secret=lambda: postgres.session_secret(database),
            after_restore=after_restore,
            describe=partial(_describe, database, node),
            available=lambda: {"database": database.availability.since is None},
            away_since=lambda: database.availability.since,
            serve=watchdog.stop,
            close=close,
        ),
        tables=access,
        background_tables=access,
        statistics_tables=access,
        row_clock=None,
    )


def _database(
    config: Config, offload: Offload = inline, now: Callable[[], float] = lambda: 0.0, clock: Any = None
) -> postgres.Database:
    """Return the database of `config` after a first connection. Raises Unavailable."""
    database = postgres.Database(config.database, offload, now, config.database_connections - SESSIONS, clock)
    postgres.check_connection(database.parameters)
    return database


@frozen
class _Connected:
    """The sessions and the bus of a server, and what the process knows of ended keys.

    `charges` is for charges and look-ups of secrets. `reads` is for other short queries and the bus, so that none of
    them delays a charge. The bus always asks something, so the silence of its session is that of the server. The
    silence of the other session may be that of a standby that confirms no commit.
    """

    charges: postgres.Session
    reads: postgres.Session
    keys: postgres.PostgresKeyCache
    bus: postgres.PostgresBus

    def service(self) -> IService:
        """Return the service of all; the bus stops before the sessions."""
        service = MultiService()
        for member in (self.charges, self.reads, self.bus):
            member.setServiceParent(service)
        return service


def _connect(
    database: postgres.Database,
    last_read: postgres.LastRead,
    now: postgres.DatabaseClock,
    environment: Environment,
) -> _Connected:
    """Return the sessions and the bus of a server; `environment.lost` is called once the database went back."""
    reactor = environment.reactor
    pulse = postgres.Pulse(database, environment.monotonic)
    charges = postgres.Session(
        database,
        reactor,
        lost=pulse.lose,
        observe=environment.database_timer("charges"),
        trial=postgres.Trial(database, environment.offload, postgres.TRIAL),
    )

    def end_all() -> None:
        # The server does not answer, and connections that wait would not notice it.
        database.interrupt()
        charges.expect_silence()

    reads = postgres.Session(
        database, reactor, lost=pulse.lose, silent=end_all, observe=environment.database_timer("reads")
    )
    bus = postgres.PostgresBus(reads, pulse, last_read, reactor, environment.lost, measured=now.measured)
    reads.listen(tables.CHANNEL, bus.notified)
    return _Connected(charges, reads, postgres.PostgresKeyCache(charges, pulse), bus)


def _serving(
    database: postgres.Database,
    connected: _Connected | None,
    tasks: Sequence[postgres.Task],
    node: postgres.Node,
    environment: Environment,
) -> tables.Serving:
    """Return what a server runs."""
    assert connected is not None, "commands serve nothing"
    bus, reactor = connected.bus, environment.reactor
    check_schema = partial(postgres.check_schema, database, environment.lost)
    return tables.Serving(
        bus,
        connected.service(),
        [
            Timer(postgres.UPKEEP_INTERVAL, partial(postgres.run_due, database, tasks), reactor),
            Timer(postgres.UPKEEP_INTERVAL, check_schema, reactor),
            Timer(postgres.REPORT_INTERVAL, partial(postgres.report_node, database, node), reactor),
            Timer(postgres.REPORT_INTERVAL, partial(postgres.end_abandoned, connected.reads), reactor),
        ],
        lambda: bus.head,
    )


def _node(config: Config) -> postgres.Node:
    """Return this process; the digest is of the upstreams, whose order decides which entries are visible."""
    upstreams = repr([astuple(upstream) for upstream in config.upstream])
    name = f"{socket.gethostname()[:100]} {os.getpid()} {token_hex(2)}"
    return postgres.Node(name, __version__, sha256(upstreams.encode(errors="replace")).digest(), TextAnalysis().version)


async def _describe(database: postgres.Database, own: postgres.Node) -> Sequence[str]:
    """Return a line for each process, and one for processes with other upstreams than those of `own`."""
    nodes = await postgres.running_nodes(database)
    lines = [f"process         {node.id}: version {node.version}" for node in nodes]
    others = [node.id for node in nodes if node.config != own.config]
    if others:
        lines.append(f"warning         other upstreams than here are configured for: {', '.join(others)}")
    return lines
