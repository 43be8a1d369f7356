"""The endpoint of the change feed, for programs that mirror the directory or watch it."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlencode

from attrs import field, frozen
from twisted.internet.defer import DeferredSemaphore
from twisted.web.server import Request
from werkzeug.datastructures import MIMEAccept
from werkzeug.http import parse_accept_header

from ... import wire
from ...directory import Directory
from ...errors import Gone, TooManyStreams
from ...model import PAGE_BYTES
from ...ports import Matching, Offload
from .._headers import query, values
from .._headers import value as header
from .._reply import reply
from ..gate import Gate, Visit
from ..streams import Hub
from ._live import Live
from ._pages import items

PATH = "/api/open/v1/changes"

READ = 1_000
"""Changes that are read at a time in search of those that somebody asks for."""

READINGS = 5
"""How often that is done for one page, which may then be short."""

AT_A_TIME = 4
"""Pages that are made at a time: the entries of each are in memory meanwhile. The other requests wait."""


@frozen
class Changes:
    """Answers `/api/open/v1/changes`."""

    _gate: Gate
    _directory: Directory
    _matching: Matching
    _offload: Offload
    _hub: Hub
    _live: Live
    _turns: DeferredSemaphore = field(init=False, factory=lambda: DeferredSemaphore(AT_A_TIME))

    async def get(self, request: Request) -> bytes | None:
        """Answer a page of changes, or a stream of them where `Accept` asks for that."""
        async with self._gate.admit(request) as visit:
            watch = wire.watch_parameters(query(request), header(request, "Last-Event-ID"))
            answer = self._stream if wants_stream(values(request, "Accept")) else self._page
            return await answer(request, visit, watch)

    async def _page(self, request: Request, visit: Visit, watch: wire.Watch) -> bytes:
        if watch.since is not None:
            await self._directory.check_place(watch.since, watch.log)
        await visit.charge()
        limit = watch.limit or wire.DEFAULT_CHANGES
        await self._turns.acquire()
        try:
            found, place = await self._passing(watch.since or 0, watch.keywords, limit)
        finally:
            self._turns.release()
        if place < await self._directory.head():
            words = {} if watch.keywords is None else {"keywords": watch.keywords}
            link = urlencode({"since": wire.position(place, self._live.log), **words, "limit": limit})
            request.setHeader("Link", f'<{PATH}?{link}>; rel="next"')
        data = [wire.raw(each) for each in found]
        return reply(request, {"data": data, "count": len(data), "next": wire.position(place, self._live.log)})

    async def _stream(self, request: Request, visit: Visit, watch: wire.Watch) -> bytes | None:
        if reason := self._hub.full(visit.key.id):
            raise TooManyStreams(reason)
        await visit.charge()
        if request.method == b"HEAD":
            request.setHeader("Content-Type", "text/event-stream")
            return b""
        since, first = await self._begin(watch.since, watch.log)
        stream = self._hub.open(request, visit.key.id, None, first)
        self._live.follow(stream, since, watch.keywords)
        return None

    async def _begin(self, since: int | None, log: str | None) -> tuple[int, bytes]:
        """Return the place from which a stream goes on, and the frame that says so."""
        if since is None:
            since = self._live.seq
        try:
            await self._directory.check_place(since, log)
        except Gone as gone:
            message = {"seq": gone.head, "message": gone.message}
            return gone.head, wire.event(message, name="reset", identity=wire.position(gone.head, self._live.log))
        return since, wire.place(since, self._live.log)

    async def _passing(self, place: int, keywords: str | None, limit: int) -> tuple[Sequence[bytes], int]:
        """Return up to `limit` changes behind `place` that are asked for, and the place up to which that is all.

        They are encoded, and have about PAGE_BYTES at most.
        """
        size = limit if keywords is None else READ
        found: list[bytes] = []
        left = PAGE_BYTES
        for _ in range(READINGS):
            changes = await self._directory.changes(place, size)
            if not changes:
                break
            more, place = await self._offload(items, changes, keywords, self._matching, limit - len(found), left)
            found += more
            left -= sum(map(len, more))
            if len(found) == limit or left <= 0:
                break
        return found, place


def wants_stream(accepted: Sequence[str]) -> bool:
    """Return whether the values of `Accept` name event streams, and do not rank JSON as high (RFC 9110, 12.5.1)."""
    ranked = parse_accept_header(", ".join(accepted).lower(), MIMEAccept)
    named = {kind.partition(";")[0]: quality for kind, quality in reversed(ranked)}
    return named.get("text/event-stream", 0) > named.get("application/json", 0)
