"""Fixture: a mirror, and a registry on a loopback port whose faults the tests choose."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from socket import AI_NUMERICHOST, getaddrinfo
from typing import Any

import pytest
import pytest_twisted  # type: ignore[import-untyped]
from attrs import define, field
from twisted.internet.task import Clock
from twisted.logger import ILogObserver, LogEvent, globalLogPublisher
from zope.interface import provider

from directory_server.domain.entries import mcp_id_of
from directory_server.domain.upstreams import UpstreamState
from directory_server.http_client import HeadBoundedPool
from directory_server.mirror import Client, Mirror, Upstream
from directory_server.runtime.run_sync import inline, run_sync
from directory_server.sqlite import Database, SqliteTables, sqlite_store
from directory_server.tables import StoredEntries, StoredFollowers, StoredMirrors, StoredWork

from ..contract.store import Briefs
from .registry import NOW, Registry

NAME = "official"

_RECORDS = "SELECT name, version, body FROM record ORDER BY id"


@define(eq=False)
class Harness:
    """A registry, a mirror of it and its storage, and a clock that only the test advances."""

    registry: Registry
    port: int
    clock: Clock
    client: Client
    store: StoredEntries
    mirrors: StoredMirrors
    work: StoredWork
    mirror: Mirror
    logged: list[str] = field(factory=list)
    environ: dict[str, str] = field(factory=dict)

    def upstream(self, route: str = "", **options: Any) -> Upstream:
        """Return the registry as an upstream. `route` selects one of its faults."""
        return Upstream(NAME, f"http://127.0.0.1:{self.port}/{route}", **options)

    def other_mirror(self, holder: str, publish: Any = None) -> Mirror:
        """Return the mirror of another process, which holds leases as `holder`."""
        return Mirror(
            self.client,
            publish or self.store.publish,
            self.mirrors,
            self.work,
            inline,
            self.clock,
            self.clock.seconds,
            self.environ,
            Random(1),
            holder,
        )

    def state(self) -> UpstreamState:
        return run_sync(self.mirrors.get(NAME))

    def names(self) -> list[str]:
        """Return the names of the visible entries."""
        return [each.name for each in run_sync(self.store.listing(("", ""), 10_000))]

    def bodies(self) -> dict[tuple[str, str], bytes]:
        """Return the stored documents by name and version, those of removed entries too."""
        records = run_sync(self.store._tables.select(_RECORDS))
        return {(name, version): body for name, version, body in records}

    def brief(self, name: str) -> str | None:
        entry = run_sync(self.store.entry(mcp_id_of(name)))
        return entry.brief if entry else None


def resolve_examples(host: str, port: Any, **options: Any) -> Sequence[Any]:
    """Return the loopback address for names of examples, and addresses for themselves."""
    if host.endswith(".example"):
        return [(None, None, 6, "", ("127.0.0.1", 0))]
    return getaddrinfo(host, port, flags=AI_NUMERICHOST, **options)


@pytest.fixture
def harness(directory_database: Database) -> Iterator[Harness]:
    from twisted.internet import reactor as global_reactor
    from twisted.web.client import Agent
    from twisted.web.server import Site

    reactor: Any = global_reactor
    clock, registry = Clock(), Registry()
    clock.advance(NOW)
    site = Site(registry)
    port = reactor.listenTCP(0, site, interface="127.0.0.1")
    pool = HeadBoundedPool(reactor, persistent=False)
    client = Client(
        Agent(reactor, pool=pool), clock, clock.seconds, pool.closeCachedConnections, reactor, resolve_examples
    )
    logged: list[str] = []

    @provider(ILogObserver)
    def observe(event: LogEvent) -> None:
        if event.get("log_namespace", "").startswith("directory_server.mirror"):
            logged.append(f"{event['log_level'].name}: " + event["log_format"].format(**event))

    globalLogPublisher.addObserver(observe)
    store = sqlite_store(directory_database, inline, Briefs(), [NAME])
    tables = SqliteTables(directory_database)
    mirrors = StoredMirrors(tables, StoredFollowers(tables, clock.seconds))
    environ: dict[str, str] = {}
    work = StoredWork(tables)
    mirror = Mirror(client, store.publish, mirrors, work, inline, clock, clock.seconds, environ, Random(1), "first")
    yield Harness(registry, port.getHost().port, clock, client, store, mirrors, work, mirror, logged, environ)
    globalLogPublisher.removeObserver(observe)
    pytest_twisted.blockon(client.close())
    pytest_twisted.blockon(port.stopListening())
