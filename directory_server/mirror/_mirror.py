"""Sync runs under a lease; each stores its result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from secrets import token_hex
from typing import Any

from attrs import define, evolve, field
from twisted.internet.defer import Deferred, TimeoutError, succeed
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from ..domain.errors import DirectoryError
from ..domain.ports.runtime import Offload
from ..domain.ports.tracing import Trace, untraced
from ..domain.upstreams import FinishedRun, UpstreamState, credible
from ..domain.work import sync_of
from ..http_client import MAX_DELAY, redirect_target
from ..importer import Publish
from ..services.work_report import reported
from ..tables import StoredMirrors, StoredWork
from ..texts.wording import counted
from ._catalog import KnownCard
from ._client import Client, client
from ._file import DEADLINE as FILE_DEADLINE
from ._file import MAX_BYTES as FILE_BYTES
from ._report import SyncReport
from ._sync_run import SyncRun
from ._upstream import Upstream, UpstreamBusy, UpstreamFailed, headers

LEASE = 60.0
"""Seconds of a lease. A page takes at most half of that, so a running sync renews it in time."""

DEADLINE = 3_600.0
"""Timeout of a sync run in seconds; the next one continues where it stopped."""

PAGE_BYTES = 4_000_000
"""Maximum bytes of a page, compressed and inflated."""

FIRST_RETRY = 60.0
"""Seconds until the first retry; each delay is twice the one before."""

LAST_RETRY = 21_600.0
"""Maximum seconds until a retry, unless the interval is longer."""

MAX_ERROR = 500
"""Characters of the error, and of the note, of a stored run."""

JITTER = 0.1
"""The random share of a delay, so that directories do not all send requests at once."""


@define(eq=False)
class Mirror:
    """Runner of sync runs. `now` returns seconds since the epoch; `holder` identifies this process in leases."""

    _client: Client
    _publish: Publish
    _mirrors: StoredMirrors
    _work: StoredWork
    _offload: Offload
    _clock: IReactorTime
    _now: Callable[[], float]
    _environ: Mapping[str, str]
    _random: Random
    _holder: str
    _logged: set[str] = field(factory=set, init=False)
    """The upstreams whose failure this process has logged; another process has a log of its own."""
    _cards: dict[str, dict[str, KnownCard]] = field(factory=dict, init=False)
    """The cards of catalogs that this process has read, by upstream and URL, for conditional requests."""

    _log = Logger()

    async def load_state(self, upstream: Upstream) -> UpstreamState:
        """Return the state of `upstream`, without times that were stored during a clock error."""
        state = await self._mirrors.get(upstream.name)
        longest = max(LAST_RETRY, upstream.interval, MAX_DELAY) if state.error else upstream.interval
        return credible(state, self._now(), longest * (1 + JITTER))

    def close(self) -> Deferred[None]:
        """Close the idle connections."""
        return self._client.close()

    async def sync(
        self, upstream: Upstream, *, full: bool = False, on_progress: Callable[[SyncReport], None] = lambda report: None
    ) -> SyncReport:
        """Run a sync run of `upstream` and store its result. Raises UpstreamFailed or UpstreamBusy."""
        renew_lease = self._lease(upstream)
        await renew_lease()
        try:
            async with reported(self._work, sync_of(upstream.name), self._clock.seconds) as show:

                def report(sync: SyncReport) -> None:
                    # Only a full sync knows the number of entries in advance.
                    show(sync.names, sync.expected if sync.full else 0)
                    on_progress(sync)

                return await self._run(upstream, full, renew_lease, report)
        finally:
            await self._mirrors.release(upstream.name, self._holder)

    def _lease(self, upstream: Upstream) -> Callable[[], Deferred[None]]:
        # The lease is not renewed during a download.
        seconds = LEASE + (FILE_DEADLINE if upstream.is_file or upstream.start else 0)

        async def renew() -> None:
            if not await self._mirrors.hold(upstream.name, self._holder, seconds=seconds):
                raise UpstreamBusy(f"Another process is syncing {upstream.name}.")

        return lambda: Deferred.fromCoroutine(renew())

    async def _run(
        self,
        upstream: Upstream,
        full: bool,
        renew_lease: Callable[[], Deferred[None]],
        on_progress: Callable[[SyncReport], None],
    ) -> SyncReport:
        started_at, report, close = self._now(), SyncReport(), _nothing_to_close
        try:
            state = await self.load_state(upstream)
            dump = upstream.dump(state)
            # The headers are for the host of the upstream only.
            templates = upstream.headers if dump is None or redirect_target(upstream.url, dump.url)[1] else ()
            sent = headers(templates, self._environ)
            if upstream.is_catalog:
                allowed = upstream.allowed_networks
                fetch, close = self._client.fetch_checked(upstream.url, sent, PAGE_BYTES, allowed, self._offload)
            else:
                fetch = self._client.fetch(sent, FILE_BYTES if dump or upstream.is_file else PAGE_BYTES)
            sync_run = SyncRun(
                upstream,
                fetch,
                self._publish,
                self._mirrors,
                self._offload,
                self._now,
                renew_lease,
                on_progress,
                report,
                self._cards.setdefault(upstream.name, {}),
            )
            running = Deferred.fromCoroutine(sync_run.run(state, full=full))
            state = await running.addTimeout(DEADLINE, self._clock)
        except TimeoutError:
            error = UpstreamFailed(f"It took more than {DEADLINE:g} seconds; the next sync run continues from there.")
            await self._failed(upstream, error, started_at, report)
            raise error from None
        except UpstreamBusy:
            raise
        except DirectoryError as error:
            await self._failed(upstream, error, started_at, report)
            raise
        finally:
            await close()
        await self._succeeded(upstream, state, started_at, report)
        return report

    async def _succeeded(self, upstream: Upstream, state: UpstreamState, started_at: float, report: SyncReport) -> None:
        now = self._now()
        await self._mirrors.put(
            evolve(
                state,
                last_run=now,
                last_success=now,
                next_run=now + self._jittered(upstream.interval),
                error="",
                failures=0,
                entries=await self._mirrors.entries(upstream.name),
            ),
            run=_finished(report, started_at, now),
        )
        if state.error or report.changes:
            self._log.info(
                "Upstream {name}: {added} added, {changed} changed, {removed} removed, {rejected} rejected",
                name=upstream.name,
                added=report.added,
                changed=report.changed,
                removed=report.removed,
                rejected=report.rejected,
            )

    async def _failed(self, upstream: Upstream, error: DirectoryError, started_at: float, report: SyncReport) -> None:
        now, state = self._now(), await self._mirrors.get(upstream.name)
        wait = min(FIRST_RETRY * 2 ** min(state.failures, 20), max(LAST_RETRY, upstream.interval))
        if isinstance(error, UpstreamFailed):
            wait = max(wait, error.retry_after)
        await self._mirrors.put(
            evolve(
                state,
                last_run=now,
                # Not before the time that the upstream requested.
                next_run=now + self._jittered(wait),
                error=error.message,
                failures=state.failures + 1,
                entries=await self._mirrors.entries(upstream.name),
            ),
            run=_finished(report, started_at, now, error.message),
        )
        if error.message != state.error or upstream.name not in self._logged:
            self._logged.add(upstream.name)
            self._log.error(
                "Upstream {name}: {error} Trying again in {wait}.",
                name=upstream.name,
                error=error.message,
                wait=counted(max(round(wait / 60), 1), "minute"),
            )

    def _jittered(self, seconds: float) -> float:
        return seconds * (1 + self._random.random() * JITTER)


def _finished(report: SyncReport, started_at: float, ended_at: float, error: str = "") -> FinishedRun:
    return FinishedRun(
        started_at,
        ended_at,
        report.full,
        report.entries,
        report.added,
        report.changed,
        report.removed,
        report.rejected,
        error[:MAX_ERROR],
        report.note[:MAX_ERROR],
    )


def _nothing_to_close() -> Deferred[None]:
    return succeed(None)


def mirror(
    reactor: Any,
    publish: Publish,
    mirrors: StoredMirrors,
    work: StoredWork,
    offload: Offload,
    now: Callable[[], float],
    environ: Mapping[str, str],
    trace: Trace = untraced,
) -> Mirror:
    """Return the mirror of this process, with a random lease holder id."""
    return Mirror(
        client(reactor, now, trace), publish, mirrors, work, offload, reactor, now, environ, Random(), token_hex(8)
    )
