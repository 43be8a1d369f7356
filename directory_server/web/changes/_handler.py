"""The endpoint of the change feed, for programs that mirror the directory or watch it."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlencode

from attrs import field, frozen
from twisted.internet.defer import DeferredSemaphore
from werkzeug.datastructures import MIMEAccept
from werkzeug.http import parse_accept_header

from ... import serialization
from ...domain.errors import Gone, TooManyStreams
from ...domain.ports.runtime import Offload
from ...domain.ports.search import Matching
from ...domain.search import PAGE_BYTES
from ...http import Request
from ...http.headers import query, values
from ...http.headers import value as header
from ...services.directory import Directory
from ...streams import Hub
from ..authentication import AuthenticatedRequest, Authenticator
from ..responses import json_response
from ._broadcaster import Broadcaster
from ._log_pages import items

PATH = "/api/open/v1/changes"

READ = 1_000
"""Changes that are read at a time in search of those that somebody asks for."""

READINGS = 5
"""How often that is done for one page, which may then be short."""

AT_A_TIME = 4
"""Pages that are made at a time: the entries of each are in memory meanwhile. The other requests wait."""


@frozen
class ChangesHandler:
    """Answers `/api/open/v1/changes`."""

    _authenticator: Authenticator
    _directory: Directory
    _matching: Matching
    _offload: Offload
    _hub: Hub
    _live: Broadcaster
    _turns: DeferredSemaphore = field(init=False, factory=lambda: DeferredSemaphore(AT_A_TIME))

    async def get(self, request: Request) -> bytes | None:
        """Answer a page of changes, or a stream of them where `Accept` asks for that."""
        async with self._authenticator.authenticate(request) as visit:
            watch = serialization.watch_parameters(query(request), header(request, "Last-Event-ID"))
            answer = self._stream if wants_stream(values(request, "Accept")) else self._page
            return await answer(request, visit, watch)

    async def _page(self, request: Request, visit: AuthenticatedRequest, watch: serialization.Watch) -> bytes:
        if watch.since is not None:
            await self._directory.check_position(watch.since, watch.log)
        await visit.charge()
        limit = watch.limit or serialization.DEFAULT_CHANGES
        await self._turns.acquire()
        try:
            found, place = await self._passing(watch.since or 0, watch.keywords, limit)
        finally:
            self._turns.release()
        if place < await self._directory.head():
            words = {} if watch.keywords is None else {"keywords": watch.keywords}
            link = urlencode({"since": serialization.position(place, self._live.log), **words, "limit": limit})
            request.setHeader("Link", f'<{PATH}?{link}>; rel="next"')
        data = [serialization.raw(each) for each in found]
        return json_response(
            request, {"data": data, "count": len(data), "next": serialization.position(place, self._live.log)}
        )

    async def _stream(self, request: Request, visit: AuthenticatedRequest, watch: serialization.Watch) -> bytes | None:
        if reason := self._hub.limit_error(visit.key.id):
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
            await self._directory.check_position(since, log)
        except Gone as gone:
            message = {"seq": gone.head, "message": gone.message}
            return gone.head, serialization.event(
                message, name="reset", identity=serialization.position(gone.head, self._live.log)
            )
        return since, serialization.place(since, self._live.log)

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
