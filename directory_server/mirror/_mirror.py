"""Rounds under a lease, each leaving behind how it went."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from secrets import token_hex
from typing import Any

from attrs import evolve, field, frozen
from twisted.internet.defer import Deferred, TimeoutError
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from ..domain.errors import DirectoryError
from ..domain.ports.runtime import Offload
from ..domain.ports.storage import Mirrors
from ..domain.upstreams import UpstreamState
from ..importer import Publish
from ._client import Client, client
from ._credible import credible
from ._errors import UpstreamBusy, UpstreamFailed
from ._fetcher import MAX_DELAY
from ._file import DEADLINE as FILE_DEADLINE
from ._file import MOST
from ._headers import headers
from ._sync_run import SyncReport, SyncRun
from ._upstream import Upstream

LEASE = 60.0
"""Seconds for which a process that does not come back keeps others from a round; a page is here within half of that."""

DEADLINE = 3_600.0
"""Seconds after which a round is given up; the next goes on where it was."""

PAGE_BYTES = 4_000_000
"""Bytes of a page, as it is sent and inflated."""

FIRST_RETRY = 60.0
"""Seconds until the first new attempt; each takes twice as long as the one before."""

LAST_RETRY = 21_600.0
"""Seconds of the longest wait for a new attempt, unless the interval is longer."""

JITTER = 0.1
"""The share of a wait that is at random, so that not all directories ask at once."""


@frozen(eq=False)
class Mirror:
    """Follows upstreams, round by round; `now` is seconds since the epoch, `holder` this process among all."""

    _client: Client
    _publish: Publish
    _mirrors: Mirrors
    _offload: Offload
    _clock: IReactorTime
    _now: Callable[[], float]
    _environ: Mapping[str, str]
    _random: Random
    _holder: str
    _told: set[str] = field(factory=set, init=False)
    """The upstreams of which this process has told that they fail: another's log may be read by nobody."""

    _log = Logger()

    async def known(self, upstream: Upstream) -> UpstreamState:
        """Return what is known of `upstream`, without times that a clock error left behind."""
        state = await self._mirrors.get(upstream.name)
        longest = max(LAST_RETRY, upstream.interval, MAX_DELAY) if state.error else upstream.interval
        return credible(state, self._now(), longest * (1 + JITTER))

    def close(self) -> Deferred[None]:
        """End the connections that wait for more to ask."""
        return self._client.close()

    async def round(
        self, upstream: Upstream, *, full: bool = False, tell: Callable[[SyncReport], None] = lambda report: None
    ) -> SyncReport:
        """Take a round of `upstream` and note how it went. Raises UpstreamFailed, or UpstreamBusy."""
        hold = self._lease(upstream)
        await hold()
        try:
            return await self._noted(upstream, full, hold, tell)
        finally:
            await self._mirrors.release(upstream.name, self._holder)

    def _lease(self, upstream: Upstream) -> Callable[[], Deferred[None]]:
        # Nobody can keep it while a file is on its way.
        seconds = LEASE + (FILE_DEADLINE if upstream.is_file else 0)

        async def hold() -> None:
            now = self._now()
            if not await self._mirrors.hold(upstream.name, self._holder, now=now, until=now + seconds):
                raise UpstreamBusy(f"Another process is following {upstream.name} at the moment.")

        return lambda: Deferred.fromCoroutine(hold())

    async def _noted(
        self,
        upstream: Upstream,
        full: bool,
        hold: Callable[[], Deferred[None]],
        tell: Callable[[SyncReport], None],
    ) -> SyncReport:
        try:
            fetch = self._client.fetch(
                headers(upstream.headers, self._environ), MOST if upstream.is_file else PAGE_BYTES
            )
            taking = SyncRun(upstream, fetch, self._publish, self._mirrors, self._offload, self._now, hold, tell)
            running = Deferred.fromCoroutine(taking.run(await self.known(upstream), full=full))
            state = await running.addTimeout(DEADLINE, self._clock)
        except TimeoutError:
            error = UpstreamFailed(f"It took more than {DEADLINE:g} seconds; the next round goes on from there.")
            await self._failed(upstream, error)
            raise error from None
        except UpstreamBusy:
            raise
        except DirectoryError as error:
            await self._failed(upstream, error)
            raise
        await self._succeeded(upstream, state, taking.report)
        return taking.report

    async def _succeeded(self, upstream: Upstream, state: UpstreamState, report: SyncReport) -> None:
        now = self._now()
        await self._mirrors.put(
            evolve(
                state,
                last_round=now,
                last_success=now,
                next_round=now + self._jittered(upstream.interval),
                error="",
                failures=0,
                entries=await self._mirrors.entries(upstream.name),
            )
        )
        if state.error or report.news:
            self._log.info(
                "Upstream {name}: {added} added, {changed} changed, {removed} removed, {refused} refused",
                name=upstream.name,
                added=report.added,
                changed=report.changed,
                removed=report.removed,
                refused=report.refused,
            )

    async def _failed(self, upstream: Upstream, error: DirectoryError) -> None:
        now, state = self._now(), await self._mirrors.get(upstream.name)
        wait = min(FIRST_RETRY * 2 ** min(state.failures, 20), max(LAST_RETRY, upstream.interval))
        if isinstance(error, UpstreamFailed):
            wait = max(wait, error.retry_after)
        await self._mirrors.put(
            evolve(
                state,
                last_round=now,
                # Never before the time that upstream asked for.
                next_round=now + self._jittered(wait),
                error=error.message,
                failures=state.failures + 1,
                entries=await self._mirrors.entries(upstream.name),
            )
        )
        if error.message != state.error or upstream.name not in self._told:
            self._told.add(upstream.name)
            self._log.error("Upstream {name}: {error}", name=upstream.name, error=error.message)

    def _jittered(self, seconds: float) -> float:
        return seconds * (1 + self._random.random() * JITTER)


def mirror(
    reactor: Any,
    publish: Publish,
    mirrors: Mirrors,
    offload: Offload,
    now: Callable[[], float],
    environ: Mapping[str, str],
) -> Mirror:
    """Return what follows upstreams from this process, which no other is taken for."""
    return Mirror(client(reactor, now), publish, mirrors, offload, reactor, now, environ, Random(), token_hex(8))
