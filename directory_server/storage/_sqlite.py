"""Storage in a data directory, on SQLite, for the processes of one machine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from .. import sqlite, tables
from ..config import Config
from ..domain.throttling import AttemptLimit, Limiter
from ..domain.transfers import Restored
from ..search import TextAnalysis
from ._storage import Environment, policy_of, source_limits, upstream_names

PRUNE_INTERVAL = 1.0
"""Seconds between two deletions of charges that no longer count."""


def open_sqlite(config: Config, environment: Environment) -> tables.Storage:
    """Open the data directory. Raises Unavailable."""
    now, offload, writes = environment.now, environment.offload, environment.account_writes
    data = sqlite.DataDirectory(config.data_dir, synchronous=config.quota.synchronous)
    data.directory.policy = policy_of(config)
    limits = source_limits(config)
    store = sqlite.sqlite_store(
        data.directory,
        offload,
        TextAnalysis(),
        upstream_names(config),
        limits,
        environment.monotonic,
        environment.pause,
    )
    clock = sqlite.quota_clock(data.quota, environment.machine_time)
    quota = sqlite.SqliteQuota(data.quota, clock, wall=environment.wall, turn=environment.turn)
    accounts = config.accounts
    access = sqlite.SqliteTables(data.directory, reads=offload, writes=writes)
    background = sqlite.SqliteTables(data.directory, reads=offload, writes=offload)
    followers = tables.StoredFollowers(background, now)

    async def session_secret() -> bytes:
        return data.session_secret()

    async def after_restore(newer: Path | None) -> Restored:
        return sqlite.after_restore(data.directory, newer)

    async def describe() -> Sequence[str]:
        return []

    statistics = sqlite.SeparateTables(config.data_dir, "statistics", offload)

    def close() -> None:
        statistics.close()
        data.close()

    # The attempts of one machine are not worth a write to the disk each.
    attempts = ProcessAttempts(now)
    cache = sqlite.SqliteKeyCache(data.directory, environment.turn)
    return tables.Storage(
        is_shared=False,
        store=store,
        curation=tables.StoredCuration(background, upstream_names(config)),
        mirrors=tables.StoredMirrors(background, followers),
        followers=followers,
        work=tables.StoredWork(background, now),
        people=tables.people(access, now, cache, quota, attempts, accounts.idle, accounts.absolute),
        control=tables.Control(
            serving=partial(_serving, data, quota, environment),
            session_secret=session_secret,
            after_restore=after_restore,
            describe=describe,
            available=data.available,
            away_since=lambda: None,
            serve=lambda: data.serve(environment.reactor),
            close=close,
        ),
        tables=access,
        background_tables=background,
        statistics_tables=statistics,
        row_clock=now,
    )


def _serving(data: sqlite.DataDirectory, quota: sqlite.SqliteQuota, environment: Environment) -> tables.Serving:
    """Return what a server runs."""
    # Commands do not serve, and this import takes 50 ms.
    from ..runtime.timers import Timer

    reactor = environment.reactor
    bus = sqlite.DataVersionBus(data.directory, reactor)
    return tables.Serving(
        bus,
        bus,
        [
            sqlite.StorageWatch(data, environment.offload, reactor, environment.lost),
            Timer(PRUNE_INTERVAL, quota.prune, reactor),
        ],
    )


class ProcessAttempts:
    """Attempts of this process; `now` is in seconds. A restart forgets them."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._limiters: dict[AttemptLimit, Limiter] = {}

    async def charge(self, limit: AttemptLimit, client: str) -> None:
        limiter = self._limiters.get(limit)
        if limiter is None:
            limiter = self._limiters[limit] = Limiter(self._now, rate=limit.rate, burst=limit.burst)
        limiter.charge(client)
