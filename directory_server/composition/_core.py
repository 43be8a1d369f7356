"""Core: clocks and threads, configuration, storage, search and metrics, which all other parts use."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from random import Random
from typing import Any

from attrs import evolve, field, frozen

from ..config import Config, index_folder
from ..domain.accounts import Account
from ..domain.ports.access import SCOPES, Passwords
from ..domain.ports.additions import ADDITIONS, PUBLISHED_CHECKS
from ..domain.ports.search import LIKENESS, OPENED, SEARCHED, USERS
from ..feature.server import Server
from ..http.proxies import Proxies, network_of
from ..runtime import threads
from ..runtime.machine import anchored, machine_time
from ..runtime.threads import Limited
from ..runtime.turn import ReactorTurn, TurnPace
from ..search import ImpactIndex, MappedIndexFile
from ..services.catalogue import Catalogue
from ..services.directory import Directory
from ..services.index_keeper import IndexKeeper
from ..services.known_notes import KnownNotes
from ..services.passwords import Argon2Passwords
from ..storage import Environment, Serving, open_storage
from ..web.metrics import Metrics
from ..web.pages import STREAMS
from ._features import register_features

SEARCHES = 2
"""Searches that run in threads at once. More of them take several times the processor time each: they wait for the
interpreter lock, and need new memory."""


@frozen
class Search:
    """The search index, the directory that reads it and the store, and the keeper of its file, if it has one.

    `catalogue` gives requests the directory within their scopes.
    """

    index: ImpactIndex
    directory: Directory
    catalogue: Catalogue
    keeper: IndexKeeper | None


@frozen
class Core:
    """The parts that all others use. The index is empty until the feed loads it."""

    server: Server
    runtime: Runtime
    metrics: Metrics
    serving: Serving
    search: Search


def build_core(config: Config, reactor: Any, runtime: Runtime, lost: Callable[[str], None]) -> Core:
    """Open the storage and return the core. `lost` is called with the reason once it was lost. Raises Unavailable."""
    metrics = Metrics()
    storage = open_storage(
        config, evolve(runtime, database_timer=lambda link: metrics.database.labels(link).observe, lost=lost)
    )
    serving = storage.control.serving()
    server = Server(
        config=config,
        storage=storage,
        reactor=reactor,
        now=runtime.now,
        offload=runtime.offload,
        bus=serving.bus,
        metrics=metrics.registry,
        replaced=runtime.replaced,
    )
    server.proxies = Proxies(config.http.trusted_proxies)
    server.notes = KnownNotes(storage.background_tables)
    register_features(server)
    index = ImpactIndex(
        runtime.offload,
        pace=TurnPace(reactor, runtime.turn),
        searches=server.trace("threads", Limited(runtime.offload, SEARCHES)),
        trace=server.trace,
    )
    scopes, folder = server.get(SCOPES), index_folder(config)
    server.directory = Directory(
        storage.store,
        server.trace("search", index),
        serving.bus,
        searched=server.all(SEARCHED),
        additions=server.all(ADDITIONS),
        likeness=server.get(LIKENESS),
        opened=server.all(OPENED),
        users=server.get(USERS),
        checks=server.all(PUBLISHED_CHECKS),
        accepted=server.notes.accepted,
        offload=runtime.offload,
        hides_names=scopes is not None,
    )
    server.catalogue = Catalogue(server.directory, scopes)
    keeper = None
    if folder is not None:
        keeper = IndexKeeper(index, MappedIndexFile(index, folder), storage.store, runtime.offload, reactor.seconds)
    return Core(server, runtime, metrics, serving, Search(index, server.directory, server.catalogue, keeper))


FindViewer = Callable[[Any], Awaitable[Account | None]]
"""Returns the account that is signed in and sent the request, None if there is none."""


@frozen(kw_only=True)
class Runtime(Environment):
    """The part of the environment that tests replace: what storage uses of it, and the rest."""

    passwords: Passwords
    new_random: Callable[[], Random] = Random
    wrap_viewer: Callable[[FindViewer], FindViewer] = lambda find: find
    page_streams: int = STREAMS
    """Open page streams per address."""
    replaced: Mapping[str, Any] = field(factory=dict)
    """The parts of features that tests replace, by name."""
    stop: Callable[[], None] = lambda: None
    """Ends the threads of `account_writes`."""


def _provider_of(network: str) -> str:
    """Return the provider's part of a client's network: a /32 of IPv6, the network itself for IPv4.

    One customer may get many /48 (RFC 6177), and a provider has a /32 or more.
    """
    return network_of(network.partition("/")[0], ipv6_prefix=32, ipv4_prefix=24)


def machine_runtime(reactor: Any) -> Runtime:
    """Return the runtime of a server process: the machine's clocks, and threads."""
    offload = threads.Offload(reactor)
    # These writes may wait for a lock or a disk. With threads of their own, they block no thread of the reactor's pool.
    writes = threads.OwnThreads(reactor, limit=2, waiting=100)
    now = anchored(time.time, time.monotonic)
    return Runtime(
        reactor=reactor,
        now=now,
        wall=time.time,
        monotonic=time.monotonic,
        machine_time=machine_time(),
        offload=offload,
        account_writes=writes,
        passwords=Argon2Passwords(offload, reactor, _provider_of),
        turn=ReactorTurn(reactor),
        stop=writes.stop,
    )
