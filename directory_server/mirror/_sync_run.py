"""A sync run: publish all entries of an upstream (full), or those changed since the last run (incremental)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from hashlib import blake2b

from attrs import define, evolve, field

from .. import importer
from ..domain.entries import Entry
from ..domain.ports.runtime import Offload
from ..domain.upstreams import SKEW, SyncProgress, UpstreamState
from ..importer import BATCH, BATCH_BYTES, Publish
from ..serialization import rfc3339, with_official_flag
from ..tables import StoredMirrors
from . import _page
from ._catalog import Crawl, KnownCard
from ._catalog_client import CatalogClient
from ._fetcher import DEADLINE, Fetcher, Response, Validators, get_patiently
from ._file import MAX_BYTES, dump_date, open_file
from ._report import SyncReport
from ._upstream import Upstream, UpstreamFailed
from ._versions import Stored, deleted_versions, unmarked_names, versions_of, wanted_versions

FULL_INTERVAL = 7 * 86_400.0
"""Seconds between full syncs: an incremental sync does not see entries that disappear without a status."""

STALE = 86_400.0
"""Seconds after which an interrupted sync run starts over."""

OVERLAP = 600.0
"""Seconds that two incremental syncs overlap: an upstream may serve an entry some time after its updatedAt."""

MAX_PAGES = 20_000
"""Maximum pages of a sync run."""

MAX_LOOK_UPS = 200
"""Maximum names of a sync run whose versions are read apart."""

MAX_OVER_LIMIT = 10_000
"""Entries beyond what is stored of an upstream after which a sync run is aborted."""


@define(eq=False)
class SyncRun:
    """A sync run of `upstream`.

    `renew_lease` is called before each page and batch; it raises UpstreamBusy if the lease is lost. `on_progress` gets
    the report after each page. `cards` are those that this process has read of the catalog.
    """

    _upstream: Upstream
    _fetch: Fetcher
    _publish: Publish
    _mirrors: StoredMirrors
    _offload: Offload
    _now: Callable[[], float]
    _renew_lease: Callable[[], Awaitable[None]]
    _on_progress: Callable[[SyncReport], None]
    report: SyncReport = field(factory=SyncReport)
    _cards: dict[str, KnownCard] = field(factory=dict)

    async def run(self, state: UpstreamState, *, full: bool) -> UpstreamState:
        """Run the sync run after `state` and return the new state. Raises UpstreamFailed.

        It is a full sync if `full` is set or a full sync is due.
        """
        if state.selection != (selection := self._upstream.selection):
            state = evolve(state, selection=selection, updated_since=None, etag="", modified="", progress=None)
        progress = self._begin(state, full)
        report = self.report
        report.full, report.resumed, report.expected = progress.full, bool(progress.cursor), state.full_sync_names
        if progress.full and not progress.cursor:
            await self._mirrors.forget_seen(state.name)
        dump = self._upstream.dump(state)
        file = dump or (self._upstream if self._upstream.is_file else None)
        validators = Validators() if full or dump else Validators(state.etag, state.modified)
        if full:
            self._cards.clear()
        read = self._catalog if self._upstream.is_catalog else partial(self._file, file) if file else self._pages
        try:
            state, response = await read(evolve(state, progress=progress), progress, validators)
            if self.report.over_limit:
                raise self._upstream.over_limit(self.report.over_limit)
            if progress.full and not response.unchanged:
                state = await self._remove_missing(state)
        except UpstreamFailed as error:
            if not error.resumable:
                before = await self._mirrors.get(state.name)
                # An incremental sync would not request the entries that this full sync did not store.
                repeat = progress.full and self.report.over_limit > 0
                await self._mirrors.put(
                    evolve(before, progress=None, full_sync_at=None if repeat else before.full_sync_at)
                )
            raise
        return self._final_state(state, response)

    def _begin(self, state: UpstreamState, full: bool) -> SyncProgress:
        now, progress = self._now(), state.progress
        if progress and progress.cursor and now - progress.began < STALE and (progress.full or not full):
            return progress
        due = state.updated_since is None or state.full_sync_at is None or now - state.full_sync_at >= FULL_INTERVAL
        return SyncProgress(full or due or self._upstream.is_whole, now)

    async def _file(
        self, file: Upstream, state: UpstreamState, progress: SyncProgress, validators: Validators
    ) -> tuple[UpstreamState, Response]:
        """Publish the entries of the file; return the new state and the response.

        After a dump, the incremental syncs request what has changed since its date.
        """
        async with open_file(file, self._fetch, validators, self._offload) as (response, path):
            if response.unchanged:
                return state, response
            if file is not self._upstream:
                state = evolve(state, progress=evolve(progress, began=await self._offload(dump_date, path)))
            imported = importer.ImportReport()
            batches = importer.batches([path], imported, batch=BATCH, most=MAX_BYTES)
            while entries := await self._offload(next, batches, ()):
                selected, names = self._select(entries)
                await self._publish_wanted(selected, await self._stored(selected))
                await self._mirrors.put(state, seen=names)
                self._on_progress(self.report)
            self.report.reject([f"line {rejection.line}: {rejection.reason}" for rejection in imported.rejections])
            self.report.nameless += imported.rejected
            if imported.unfinished:
                raise UpstreamFailed(f"Its file cannot be read completely. {imported.rejections[-1].reason}")
            return state, response

    async def _catalog(
        self, state: UpstreamState, progress: SyncProgress, validators: Validators
    ) -> tuple[UpstreamState, Response]:
        """Publish the entries of the catalog; return the new state and the response, with validators of a whole one."""
        client = CatalogClient(self._upstream, self._get, self._offload, self._renew_lease)
        crawl = Crawl(client, self._offload, self.report, self._cards)
        response = await crawl.open(validators)
        if response.unchanged:
            return state, response
        async for batch in crawl.batches():
            selected, names = self._select(batch.entries)
            await self._publish_wanted(selected, await self._stored(selected))
            self.report.unchanged += len(batch.unchanged)
            names |= {name: self._upstream.selects(name) for name in batch.unchanged}
            await self._mirrors.put(state, seen=names)
            self._on_progress(self.report)
        return state, response if crawl.is_single else evolve(response, validators=Validators())

    async def _pages(
        self, state: UpstreamState, progress: SyncProgress, validators: Validators
    ) -> tuple[UpstreamState, Response]:
        """Publish page by page; return the new state and the last response, with validators if it had one page."""
        since = "" if progress.full or state.updated_since is None else rfc3339(state.updated_since)
        selected: list[Entry] = []
        names: dict[str, bool] = {}
        cursor, size = progress.cursor, 0
        # Digests: a cursor may have 4,096 characters, and a sync run 20,000 pages.
        cursors, bodies = {_digest(cursor.encode())}, set[bytes]()
        if progress.full or cursor:
            validators = Validators()
        while True:
            await self._renew_lease()
            response, body = await self._get(self._upstream.page(cursor, since), validators)
            if response.unchanged:
                return state, response
            digest, size = _digest(body), size + len(body)
            page = await self._offload(_page.read, body)
            next_cursor = _digest(page.next.encode())
            if page.next and (next_cursor in cursors or digest in bodies or len(bodies) >= MAX_PAGES):
                raise UpstreamFailed(
                    f"Its pages do not end: page {len(bodies) + 1:,} repeats an earlier one or exceeds the limit."
                )
            if not cursor:
                progress = evolve(progress, began=self._began(response))
            bodies.add(digest)
            cursors.add(next_cursor)
            self.report.pages += 1
            self.report.reject([bad.reason for bad in page.rejected])
            self.report.nameless += sum(not bad.name for bad in page.rejected)
            chosen, seen = self._select(page.entries)
            selected += chosen
            # An invalid entry has not disappeared.
            names |= seen | {bad.name: self._upstream.selects(bad.name) for bad in page.rejected if bad.name}
            if max(len(selected), len(names)) >= BATCH or size >= BATCH_BYTES or not page.next:
                # In a full sync the other versions of the last name follow.
                incomplete = selected[-1].name if selected and progress.full and page.next else ""
                if not (await self._publish_names(selected, incomplete) or progress.full):
                    state = evolve(state, full_sync_at=None)
                progress = evolve(progress, cursor=page.next or progress.cursor)
                state = evolve(state, progress=progress)
                await self._mirrors.put(state, seen=names if progress.full else {})
                selected, names, size = [], {}, 0
            self._on_progress(self.report)
            if not page.next:
                return state, response if len(bodies) == 1 else evolve(response, validators=Validators())
            cursor, validators = page.next, Validators()

    async def _get(self, url: str, validators: Validators, deadline: float = DEADLINE) -> tuple[Response, bytes]:
        return await get_patiently(self._fetch, url, validators, deadline, self._renew_lease)

    def _began(self, response: Response) -> float:
        """Return the start of the sync run by the upstream's clock, or by ours if that is absent or far off."""
        now, date = self._now(), response.date
        self.report.skew = 0 if date is None else round(date - now)
        return now if date is None or abs(self.report.skew) >= SKEW else date

    def _select(self, entries: Sequence[Entry]) -> tuple[list[Entry], dict[str, bool]]:
        """Return the entries selected by the upstream's patterns, and for each name whether it is selected."""
        self.report.entries += len(entries)
        if not self._upstream.is_official:
            self.report.claimed += sum(bool(entry.official) for entry in entries)
        entries = [with_official_flag(entry) for entry in entries] if self._upstream.is_official else entries
        names = {entry.name: self._upstream.selects(entry.name) for entry in entries}
        self.report.names += len(names)
        return [entry for entry in entries if names[entry.name]], names

    async def _publish_names(self, entries: Sequence[Entry], incomplete: str) -> bool:
        """Publish versions, and look up the names that have lost the mark of their latest version, but `incomplete`.

        Return False if not all could be looked up; the next sync run must be full.
        """
        stored, repaired = await self._stored(entries), True
        wanted = await self._publish_wanted(entries, stored)
        for name in unmarked_names(entries, wanted, stored):
            if name == incomplete:
                continue
            if self.report.look_ups >= MAX_LOOK_UPS:
                return False
            self.report.look_ups += 1
            try:
                versions, _ = self._select(await versions_of(name, partial(self._look_up, name)))
            except UpstreamFailed as error:
                self.report.reject([f"{name}: its versions cannot be read. {error.message}"])
                if error.resumable:
                    return False
                repaired = False
            else:
                await self._publish_wanted(versions, stored)
        return repaired

    async def _look_up(self, name: str, cursor: str) -> _page.ServerPage:
        await self._renew_lease()
        _, body = await self._get(self._upstream.versions_of(name, cursor), Validators())
        return await self._offload(_page.read, body)

    async def _stored(self, entries: Sequence[Entry]) -> Stored:
        return await self._mirrors.versions(self._upstream.name, {entry.name for entry in entries})

    async def _publish_wanted(self, entries: Sequence[Entry], stored: Stored) -> Sequence[Entry]:
        """Publish those of `entries` that are to be stored; return them."""
        wanted = wanted_versions(entries, self._upstream.versions, stored)
        await self._publish_entries(wanted)
        return wanted

    async def _publish_entries(self, entries: Sequence[Entry]) -> None:
        for start in range(0, len(entries), BATCH):
            await self._renew_lease()
            self.report.count(await self._publish(self._upstream.name, entries[start : start + BATCH]))
            if self.report.over_limit >= MAX_OVER_LIMIT:
                raise self._upstream.over_limit(self.report.over_limit)

    async def _remove_missing(self, state: UpstreamState) -> UpstreamState:
        """Remove the entries that a full sync has not seen.

        Nothing is removed if an entry without a name was rejected. Raises UpstreamFailed if too many are missing.
        """
        if self.report.nameless:
            return evolve(state, full_sync_at=self._now())
        name = self._upstream.name
        seen = await self._mirrors.count_seen(name)
        if seen < self._upstream.floor * state.full_sync_names:
            raise self._upstream.shrunken(seen, state.full_sync_names)
        while bodies := await self._mirrors.unseen(name, BATCH):
            await self._renew_lease()
            removed = await self._offload(deleted_versions, bodies)
            await self._publish(name, removed)
            self.report.removed += len(removed)
            self._on_progress(self.report)
        return evolve(state, full_sync_names=seen, full_sync_at=self._now())

    def _final_state(self, state: UpstreamState, response: Response) -> UpstreamState:
        progress, validators = state.progress, response.validators
        assert progress is not None, "set when the sync run began"
        if not self._upstream.is_whole and (progress.full or self.report.changes):
            # The next request has another updated_since, so these validators do not apply.
            return evolve(state, updated_since=progress.began - OVERLAP, etag="", modified="", progress=None)
        if response.unchanged:
            return evolve(state, progress=None)
        return evolve(
            state,
            updated_since=state.updated_since or progress.began,
            etag=validators.etag,
            modified=validators.modified,
            progress=None,
        )


def _digest(text: bytes) -> bytes:
    return blake2b(text, digest_size=16).digest()
