"""Recorder of requests and searches by day. Requests only count in memory; a timer writes the numbers in a thread."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from hashlib import blake2b
from secrets import token_bytes
from typing import Any

from attrs import define
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger
from twisted.python.failure import Failure

from ...domain.errors import Unavailable
from ...domain.ports.runtime import Offload
from ...domain.ports.search import OPENED, SEARCHED
from ...feature.server import SERVICES, WRITES, Server
from ...runtime.timers import Timer
from ...web.access_log import OBSERVERS, AccessRecord
from .rules import MAX_NAMES, MAX_RAW_TEXT, Count, Kind, QueryCount, countable, day_of
from .settings import StatisticsConfig
from .tables import Statistics

FLUSH_INTERVAL = 10.0
"""Seconds between two writes. The end of a process without an orderly stop loses the numbers since the last one."""

FORGET_INTERVAL = 3_600.0
"""Seconds between two deletions of old numbers."""

MAX_PENDING = 20_000
"""Searches between two writes whose texts are counted; further ones are not."""

MAX_CANDIDATES = 10_000
"""Different texts of a day that the process counts; further ones are not."""

MAX_CLIENTS = 1_000
"""Clients of a text that are told apart."""

DIGEST_SIZE = 8
"""Bytes of the digest of a client. A text has at most `query_clients` of them."""


@define
class _Candidate:
    """A text of the current day: its number, the part of it that is stored, and digests of its first clients."""

    total: int = 0
    failed: int = 0
    stored_total: int = 0
    stored_failed: int = 0
    clients: bytes = b""


class StatisticsRecorder(Timer):
    """Counts requests, searches and opened entries, and texts of searches.

    Clients are counted by digests in memory, whose key only this process has. A digest depends on the text, so that
    digests of one client differ between texts.

    What `settings` do not store is deleted. `now` returns seconds since the epoch.
    """

    _log = Logger()

    def __init__(
        self,
        statistics: Statistics,
        offload: Offload,
        clock: IReactorTime,
        now: Callable[[], float],
        settings: StatisticsConfig,
    ) -> None:
        super().__init__(FLUSH_INTERVAL, self.flush, clock, at_start=False)
        self._statistics = statistics
        self._offload = offload
        self._now = now
        self._days = settings.days
        self._query_days = settings.queries
        self._clients = min(settings.query_clients, MAX_CLIENTS)
        self._totals: Counter[tuple[Kind, str]] = Counter()
        self._failures: Counter[tuple[Kind, str]] = Counter()
        self._names: dict[Kind, set[str]] = {"keys": set(), "entries": set()}
        self._digest_key = token_bytes(blake2b.MAX_KEY_SIZE)
        self._pending: list[tuple[str, str, bool]] = []
        self._candidates: dict[str, _Candidate] = {}
        self._day = 0
        self._named_day = 0
        self._forget_at = 0.0
        self._is_unavailable = False

    def stopService(self) -> Deferred[Any]:
        super().stopService()
        return self.flush()

    def observe(self, records: Sequence[AccessRecord]) -> None:
        """Count finished requests."""
        if self._days:
            # Most requests of a turn are alike.
            alike = Counter([(record.route, record.key_id, record.status >= 400) for record in records])
            for (route, key_id, is_failed), count in alike.items():
                self._add("requests", route, is_failed, count)
                if key_id is not None:
                    self._add_name("keys", key_id, is_failed, count)

    def opened(self, mcp_id: str, client: str) -> None:
        """Count an entry that was opened."""
        if self._days:
            self._add_name("entries", mcp_id, is_failed=False)

    def searched(self, api: str, client: str, keywords: str, has_hits: bool) -> None:
        """Count a search that `client` sent to `api`; all clients without an identity, "", are one."""
        if self._days:
            self._add("searches", api, not has_hits)
        if self._query_days and len(keywords) <= MAX_RAW_TEXT and len(self._pending) < MAX_PENDING:
            self._pending.append((client, keywords, has_hits))

    def flush(self) -> Deferred[None]:
        """Write the numbers. If the storage is unavailable, log it once and add them to those of the next time."""
        return Deferred.fromCoroutine(self._flush()).addErrback(self._cannot_write)

    def _add(self, kind: Kind, name: str, is_failed: bool, count: int = 1) -> None:
        self._totals[kind, name] += count
        self._failures[kind, name] += is_failed * count

    def _add_name(self, kind: Kind, name: str, is_failed: bool, count: int = 1) -> None:
        """Count one of many names: at most MAX_NAMES of a day."""
        names = self._names[kind]
        if name not in names:
            if len(names) >= MAX_NAMES:
                return
            names.add(name)
        self._add(kind, name, is_failed, count)

    async def _flush(self) -> None:
        now = self._now()
        totals, self._totals = self._totals, Counter()
        failures, self._failures = self._failures, Counter()
        pending, self._pending = self._pending, []
        if day_of(now) != self._named_day:
            self._named_day = day_of(now)
            for names in self._names.values():
                names.clear()
        rows = [Count(day_of(now), *key, total, failures[key]) for key, total in totals.items()]
        try:
            queries = await self._offload(self._frequent, pending, day_of(now)) if pending else []
            if rows or queries:
                await self._statistics.add(rows, queries)
            if now >= self._forget_at:
                self._forget_at = now + FORGET_INTERVAL
                await self._forget(day_of(now))
        except Unavailable:
            self._totals.update(totals)
            self._failures.update(failures)
            raise
        self._is_unavailable = False

    async def _forget(self, today: int) -> None:
        # A value of 0 keeps no day, 1 keeps today.
        await self._statistics.forget(today + 1 - self._days, today + 1 - self._query_days)

    def _frequent(self, pending: Sequence[tuple[str, str, bool]], day: int) -> list[QueryCount]:
        """Count texts; return what to add to the stored numbers of those of enough clients."""
        if day != self._day:
            self._candidates, self._day = {}, day
        changed: dict[str, _Candidate] = {}
        for client, keywords, has_hits in pending:
            text = countable(keywords)
            candidate = self._candidates.get(text)
            if candidate is None:
                if not text or len(self._candidates) >= MAX_CANDIDATES:
                    continue
                candidate = self._candidates[text] = _Candidate()
            candidate.total += 1
            candidate.failed += not has_hits
            changed[text] = candidate
            if len(candidate.clients) < self._clients * DIGEST_SIZE:
                digest = blake2b(f"{text}\n{client}".encode(), key=self._digest_key, digest_size=DIGEST_SIZE).digest()
                if digest not in candidate.clients:
                    candidate.clients += digest
        added = []
        for text, each in changed.items():
            if len(each.clients) >= self._clients * DIGEST_SIZE:
                added.append(QueryCount(day, text, each.total - each.stored_total, each.failed - each.stored_failed))
                each.stored_total, each.stored_failed = each.total, each.failed
        return added

    def _cannot_write(self, failure: Failure) -> None:
        error = failure.value
        if not isinstance(error, Unavailable):
            self._log.failure("Statistics cannot be written", failure=failure)
        elif not self._is_unavailable:
            self._is_unavailable = True
            self._log.warn("Statistics cannot be written: {reason}", reason=error.message)


def run(server: Server) -> None:
    """Add the recorder, which gets requests and searches."""
    recorder = StatisticsRecorder(
        Statistics(server.storage.statistics_tables),
        server.offload,
        server.reactor,
        server.now,
        server.config.of(StatisticsConfig),
    )
    server.add(SERVICES, recorder)
    server.add(OBSERVERS, recorder.observe)
    server.add(SEARCHED, recorder.searched)
    server.add(OPENED, recorder.opened)
    server.add(WRITES, recorder.flush)
