"""Core: configuration, runtime, storage, search and metrics, which all other parts use."""

from __future__ import annotations

from typing import Any

from attrs import frozen

from .. import sqlite
from ..config import Config
from ..domain.publishing import SourceLimits
from ..http.proxies import Proxies
from ..search import ImpactIndex, TextAnalysis
from ..services.directory import Directory
from ..web.metrics import Metrics
from ._runtime import Runtime


@frozen
class Storage:
    """The data directory and the adapters that read and write it."""

    data: sqlite.DataDirectory
    store: sqlite.SqliteStore
    bus: sqlite.DataVersionBus
    mirrors: sqlite.SqliteMirrors
    keys: sqlite.SqliteKeyRing
    quota: sqlite.SqliteQuota
    accounts: sqlite.SqliteAccounts
    sessions: sqlite.SqliteSessions
    new_secrets: sqlite.SqliteNewSecrets
    registry_tokens: sqlite.SqliteRegistryTokens


@frozen
class Search:
    """The search index, and the directory that reads it and the store."""

    index: ImpactIndex
    directory: Directory


@frozen
class Core:
    """The parts that all others use. The index is empty until the feed loads it."""

    config: Config
    reactor: Any
    runtime: Runtime
    proxies: Proxies
    meter: Metrics
    storage: Storage
    search: Search


def build_core(config: Config, reactor: Any, runtime: Runtime) -> Core:
    """Open the data directory and return the core. Raises Unavailable."""
    storage = _storage(config, reactor, runtime)
    index = ImpactIndex(runtime.offload)
    return Core(
        config=config,
        reactor=reactor,
        runtime=runtime,
        proxies=Proxies(config.http.trusted_proxies),
        meter=Metrics(runtime.now),
        storage=storage,
        search=Search(index, Directory(storage.store, index, storage.bus)),
    )


def _storage(config: Config, reactor: Any, runtime: Runtime) -> Storage:
    """Open the data directory and return its adapters."""
    now, offload, writes = runtime.now, runtime.offload, runtime.account_writes
    data = sqlite.DataDirectory(config.data_dir, synchronous=config.quota.synchronous)
    limits = {each.name: SourceLimits(each.max_entries, each.max_bytes) for each in config.upstream}
    return Storage(
        data=data,
        store=sqlite.SqliteStore(data.directory, offload, TextAnalysis(), list(limits), limits, runtime.monotonic),
        bus=sqlite.DataVersionBus(data.directory, reactor),
        mirrors=sqlite.SqliteMirrors(data.directory, now, offload),
        keys=sqlite.SqliteKeyRing(data.directory, now, writes, runtime.turn),
        quota=sqlite.SqliteQuota(data.quota, runtime.quota_clock(data.quota), wall=runtime.wall, turn=runtime.turn),
        accounts=sqlite.SqliteAccounts(data.directory, now, writes),
        sessions=sqlite.SqliteSessions(data.directory, now, config.accounts.idle, config.accounts.absolute, writes),
        new_secrets=sqlite.SqliteNewSecrets(data.directory, now, offload),
        registry_tokens=sqlite.SqliteRegistryTokens(data.directory, now),
    )
