"""One round: everything that an upstream has, or what is new there, into the directory."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from hashlib import blake2b
from itertools import count

from attrs import define, evolve, field, frozen

from .. import importer
from ..domain.entries import OFFICIAL, Entry
from ..domain.ports.runtime import Offload
from ..domain.ports.storage import Mirrors
from ..domain.upstreams import SyncProgress, UpstreamState
from ..importer import Publish
from ..serialization import endorsed, restore_entry, rfc3339
from . import _page
from ._credible import SKEW
from ._errors import UpstreamFailed
from ._fetcher import Fetcher, Response, Validators
from ._file import MOST, opened
from ._upstream import Upstream

BATCH = 500
"""Entries published at once, about."""

BATCH_BYTES = 4_000_000
"""Bytes of pages after which their entries are published, however few there are."""

FULL = 7 * 86_400.0
"""Seconds after which everything is walked again: what just vanishes is not seen otherwise."""

STALE = 86_400.0
"""Seconds after which a walk that stopped half-way is begun anew."""

OVERLAP = 600.0
"""Seconds that are asked for twice: an upstream may show what it wrote a while after the moment it notes."""

MAX_PAGES = 20_000
"""Pages of a round."""

PATIENCE, ATTEMPTS = 30.0, 5
"""Seconds after which an upstream may have the same page asked for again in the same round, and how often in all."""

MAX_OVER_LIMIT = 10_000
"""Entries beyond what is stored of an upstream after which a sync run is given up: there may be no end to them."""

REFUSALS = 100
"""Refused entries that a report tells of one by one."""


@define
class SyncReport:
    """What a round has done so far. `expected` is how many entries the last full walk found, 0 if not known.

    `nameless` counts those of the `refused` entries whose name is not known either: nobody can say what is missing.
    `too_old` counts versions older than those that are kept of their name, `over_limit` entries beyond what is stored
    of the upstream.
    """

    full: bool = False
    resumed: bool = False
    expected: int = 0
    pages: int = 0
    entries: int = 0
    added: int = 0
    changed: int = 0
    unchanged: int = 0
    removed: int = 0
    refused: int = 0
    too_old: int = 0
    over_limit: int = 0
    nameless: int = 0
    refusals: list[str] = field(factory=list)

    @property
    def news(self) -> int:
        """The number of entries that were not known as they are."""
        return self.added + self.changed + self.removed

    def count(self, outcomes: Sequence[str]) -> None:
        """Add what became of entries that were published."""
        self.added += outcomes.count("added")
        self.changed += outcomes.count("changed")
        self.unchanged += outcomes.count("unchanged")
        self.too_old += outcomes.count("too_old")
        self.over_limit += outcomes.count("over_limit")

    def refuse(self, refusals: Sequence[str]) -> None:
        """Add why entries were not taken."""
        self.refused += len(refusals)
        self.refusals += refusals[: max(REFUSALS - len(self.refusals), 0)]


@frozen(eq=False)
class SyncRun:
    """Takes a round of `upstream`; `hold` is called again and again, and keeps the lease or raises.

    `tell` is told of the report after each page.
    """

    _upstream: Upstream
    _fetch: Fetcher
    _publish: Publish
    _mirrors: Mirrors
    _offload: Offload
    _now: Callable[[], float]
    _hold: Callable[[], Awaitable[None]]
    _tell: Callable[[SyncReport], None]
    report: SyncReport = field(factory=SyncReport)

    async def run(self, state: UpstreamState, *, full: bool) -> UpstreamState:
        """Take the round that follows `state`, a whole one if it is `full` or due; return what to remember.

        Raises UpstreamFailed.
        """
        if state.question != self._upstream.question:
            state = evolve(state, question=self._upstream.question, mark=None, etag="", modified="", walk=None)
        walk = self._begin(state, full)
        self.report.full, self.report.resumed, self.report.expected = walk.full, bool(walk.cursor), state.walked
        if walk.full and not walk.cursor:
            await self._mirrors.forget_seen(state.name)
        known = Validators() if full else Validators(state.etag, state.modified)
        read = self._file if self._upstream.is_file else self._pages
        try:
            state, answer = await read(evolve(state, walk=walk), walk, known)
            if self.report.over_limit:
                raise self._over_limit()
            if walk.full and not answer.unchanged:
                state = await self._sweep(state)
        except UpstreamFailed as failed:
            if not failed.resumable:
                before = await self._mirrors.get(state.name)
                # What was not stored in a full sync is not asked for by an incremental one.
                again = walk.full and self.report.over_limit > 0
                await self._mirrors.put(evolve(before, walk=None, walked_at=None if again else before.walked_at))
            raise
        return self._ended(state, answer)

    def _begin(self, state: UpstreamState, full: bool) -> SyncProgress:
        now, walk = self._now(), state.walk
        if walk and walk.cursor and now - walk.began < STALE and (walk.full or not full):
            return walk
        due = state.mark is None or state.walked_at is None or now - state.walked_at >= FULL
        return SyncProgress(full or due or self._upstream.is_file, now)

    async def _file(
        self, state: UpstreamState, walk: SyncProgress, known: Validators
    ) -> tuple[UpstreamState, Response]:
        """Publish what is in the file; return what to remember, and the answer."""
        async with opened(self._upstream, self._fetch, known, self._offload) as (answer, path):
            if answer.unchanged:
                return state, answer
            imported = importer.ImportReport()
            batches = importer.batches([path], imported, batch=BATCH, most=MOST)
            while entries := await self._offload(next, batches, ()):
                taken, names = self._noted(entries)
                await self._take(taken)
                await self._mirrors.put(state, seen=names)
                self._tell(self.report)
            self.report.refuse([f"line {each.line}: {each.reason}" for each in imported.refusals])
            self.report.nameless += imported.refused
            if imported.unfinished:
                raise UpstreamFailed(f"Its file cannot be read to its end. {imported.refusals[-1].reason}")
            return state, answer

    async def _pages(
        self, state: UpstreamState, walk: SyncProgress, known: Validators
    ) -> tuple[UpstreamState, Response]:
        """Publish page after page; return what to remember, and the answer, if that was one page."""
        since = "" if walk.full or state.mark is None else rfc3339(state.mark)
        taken: list[Entry] = []
        names: dict[str, bool] = {}
        cursor, size = walk.cursor, 0
        # Digests: a cursor may have 4,096 characters, and a sync run 20,000 pages.
        cursors, bodies = {_digest(cursor.encode())}, set[bytes]()
        if walk.full or cursor:
            known = Validators()
        while True:
            await self._hold()
            answer, body = await self._get(self._upstream.page(cursor, since), known)
            if answer.unchanged:
                return state, answer
            digest, size = _digest(body), size + len(body)
            page = await self._offload(_page.read, body)
            following = _digest(page.next.encode())
            if page.next and (following in cursors or digest in bodies or len(bodies) >= MAX_PAGES):
                raise UpstreamFailed(f"Its pages do not end: page {len(bodies) + 1:,} leads to where it has been.")
            if not cursor:
                walk = evolve(walk, began=self._began(answer))
            bodies.add(digest)
            cursors.add(following)
            self.report.pages += 1
            self.report.refuse([each.reason for each in page.refused])
            self.report.nameless += sum(not each.name for each in page.refused)
            chosen, found = self._noted(page.entries)
            taken += chosen
            # One that cannot be read has not vanished.
            names |= found | {each.name: self._upstream.takes(each.name) for each in page.refused if each.name}
            if max(len(taken), len(names)) >= BATCH or size >= BATCH_BYTES or not page.next:
                await self._take(taken)
                walk = evolve(walk, cursor=page.next or walk.cursor)
                state = evolve(state, walk=walk)
                await self._mirrors.put(state, seen=names if walk.full else None)
                taken, names, size = [], {}, 0
            self._tell(self.report)
            if not page.next:
                return state, answer if len(bodies) == 1 else evolve(answer, validators=Validators())
            cursor, known = page.next, Validators()

    async def _get(self, url: str, known: Validators) -> tuple[Response, bytes]:
        for attempt in count(1):
            pieces: list[bytes] = []
            try:
                answer = await self._fetch.get(url, pieces.append, validators=known)
                break
            except UpstreamFailed as error:
                if attempt == ATTEMPTS or not 0 < error.retry_after <= PATIENCE:
                    raise
                # Whoever limits how often it is asked says so in the midst of a long walk.
                await self._fetch.pause(error.retry_after)
                await self._hold()
        return answer, b"".join(pieces)

    def _began(self, answer: Response) -> float:
        """Return when the walk began, by the clock that decides what is new there."""
        now = self._now()
        return answer.date if answer.date is not None and abs(answer.date - now) < SKEW else now

    def _noted(self, entries: Sequence[Entry]) -> tuple[list[Entry], dict[str, bool]]:
        """Return which of `entries` are taken, and whether each of the names is."""
        self.report.entries += len(entries)
        if self._upstream.official:
            entries = [endorsed(entry) for entry in entries]
        names = {entry.name: self._upstream.takes(entry.name) for entry in entries}
        return [entry for entry in entries if names[entry.name]], names

    async def _take(self, entries: Sequence[Entry]) -> None:
        for start in range(0, len(entries), BATCH):
            await self._hold()
            self.report.count(await self._publish(self._upstream.name, entries[start : start + BATCH]))
            if self.report.over_limit >= MAX_OVER_LIMIT:
                raise self._over_limit()

    def _over_limit(self) -> UpstreamFailed:
        upstream = self._upstream
        return UpstreamFailed(
            f"It has more than is stored of it, max_entries = {upstream.max_entries} and max_bytes = "
            f"{upstream.max_bytes}: {self.report.over_limit:,} entries were not stored, and nothing was removed. "
            f"Raise the limits of the upstream {upstream.name}, or exclude names."
        )

    async def _sweep(self, state: UpstreamState) -> UpstreamState:
        """Take back what a complete walk has not come across, unless too much is missing or may have been misread."""
        if self.report.nameless:
            return evolve(state, walked_at=self._now())
        name, floor = self._upstream.name, self._upstream.floor
        came = await self._mirrors.count_seen(name)
        if came < floor * state.walked:
            raise UpstreamFailed(
                f"It has {came:,} entries where it had {state.walked:,}, fewer than {floor:.0%}: nothing was removed. "
                f"If that is right, lower the floor of the upstream {name}."
            )
        while bodies := await self._mirrors.unseen(name, BATCH):
            await self._hold()
            gone = await self._offload(_withdrawn, bodies)
            await self._publish(name, gone)
            self.report.removed += len(gone)
            self._tell(self.report)
        return evolve(state, walked=came, walked_at=self._now())

    def _ended(self, state: UpstreamState, answer: Response) -> UpstreamState:
        walk, validators = state.walk, answer.validators
        assert walk is not None, "it was set when the walk began"
        if not self._upstream.is_file and (walk.full or self.report.news):
            # Another question from now on, to which no answer is known.
            return evolve(state, mark=walk.began - OVERLAP, etag="", modified="", walk=None)
        if answer.unchanged:
            return evolve(state, walk=None)
        return evolve(
            state, mark=state.mark or walk.began, etag=validators.etag, modified=validators.modified, walk=None
        )


def _digest(text: bytes) -> bytes:
    return blake2b(text, digest_size=16).digest()


def _withdrawn(bodies: Sequence[bytes]) -> list[Entry]:
    """Return the entries of `bodies` as their registry would show them, had it deleted them."""
    entries = map(restore_entry, bodies)
    return [evolve(each, meta={**each.meta, OFFICIAL: {**each.official, "status": "deleted"}}) for each in entries]
