"""The endpoint of the change feed, for clients that mirror or watch the directory."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlencode

from attrs import define, field
from twisted.internet.defer import DeferredSemaphore
from werkzeug.datastructures import MIMEAccept
from werkzeug.http import parse_accept_header

from ... import serialization
from ...domain.errors import Gone, TooManyStreams
from ...domain.ports.runtime import Offload
from ...domain.ports.search import Matching
from ...domain.ports.storage import Store
from ...domain.search import PAGE_BYTES
from ...http import Request
from ...http.headers import query, values
from ...http.headers import value as header
from ...services.catalogue import Catalogue
from ...services.feed import check_position
from ...streams import Hub
from ..authentication import AuthenticatedRequest, Authenticator
from ..responses import json_response, list_path
from ..routes import REST, App
from ._broadcaster import Broadcaster
from ._log_pages import Watch, encode_matching

PATH = "/api/open/v1/changes"

FIRST_SCAN, SCAN_SIZE = 100, 1_000
"""Changes read at a time to find those that match the keywords: in the first read, unless the page has more, and at
most. Each read is twice as large as the one before, because a page of frequent words is full after a few changes."""

MAX_SCANNED = 5_000
"""Changes after which a page with keywords ends; it may have fewer changes than its limit."""

MAX_CONCURRENT_PAGES = 4
"""Pages without keywords built at the same time, because each has its entries in memory. Other requests wait."""

MAX_CONCURRENT_SCANS = 2
"""Pages with keywords built at the same time. They have their own limit, because one reads up to MAX_SCANNED changes,
and pages without keywords must not wait for it."""


@define(eq=False)
class ChangesHandler:
    """Handler of `/api/open/v1/changes`. `_store` has the whole log, whose numbers and bounds all readers share."""

    app = App(REST)

    _authenticator: Authenticator
    _catalogue: Catalogue
    _store: Store
    _matching: Matching
    _offload: Offload
    _hub: Hub
    _broadcaster: Broadcaster
    _page_slots: DeferredSemaphore = field(init=False, factory=lambda: DeferredSemaphore(MAX_CONCURRENT_PAGES))
    _scan_slots: DeferredSemaphore = field(init=False, factory=lambda: DeferredSemaphore(MAX_CONCURRENT_SCANS))

    @app.get("/api/open/v1/changes")
    async def get(self, request: Request) -> bytes | None:
        """Respond with a page of changes, or with a stream if `Accept` prefers event streams."""
        async with self._authenticator.authenticate(request) as authenticated:
            watch = serialization.changes_parameters(query(request), header(request, "Last-Event-ID"))
            respond = self._stream if wants_stream(values(request, "Accept")) else self._page
            return await respond(request, authenticated, watch)

    async def _page(
        self, request: Request, authenticated: AuthenticatedRequest, watch: serialization.ChangesQuery
    ) -> bytes:
        if watch.since is not None:
            await check_position(self._store, watch.since, watch.log)
        # Pages have slots of their own, and must not delay the searches of their key.
        await authenticated.charge(waits=False)
        limit = watch.limit or serialization.DEFAULT_CHANGES
        slots = self._page_slots if watch.keywords is None else self._scan_slots
        store = self._catalogue.of(request).store
        await slots.acquire()
        try:
            items, last = await self._matching_items(store, watch.since or 0, watch.keywords, limit)
        finally:
            slots.release()
        if await store.has_changes(last):
            filters = {} if watch.keywords is None else {"keywords": watch.keywords}
            link = urlencode({"since": serialization.event_id(last, self._broadcaster.log), **filters, "limit": limit})
            request.setHeader("Link", f'<{list_path(request)}{PATH}?{link}>; rel="next"')
        data = [serialization.raw(item) for item in items]
        position = serialization.event_id(last, self._broadcaster.log)
        return json_response(request, serialization.changes_page(data, position))

    async def _stream(
        self, request: Request, authenticated: AuthenticatedRequest, watch: serialization.ChangesQuery
    ) -> bytes | None:
        if reason := self._hub.limit_error(authenticated.key.id):
            raise TooManyStreams(reason)
        await authenticated.charge(waits=False)
        if request.method == b"HEAD":
            request.setHeader("Content-Type", "text/event-stream")
            return b""
        since, first = await self._begin(watch.since, watch.log)
        scope = self._catalogue.scope_of(request)
        stream = self._hub.open(request, authenticated.key.id, None, first, is_scoped=scope is not None)
        self._broadcaster.follow(stream, since, Watch(watch.keywords, scope))
        return None

    async def _begin(self, since: int | None, log: str | None) -> tuple[int, bytes]:
        """Return the seq after which a stream begins, and its first event."""
        if since is None:
            since = self._broadcaster.seq
        try:
            await check_position(self._store, since, log)
        except Gone as error:
            message = {"seq": error.head, "message": error.message}
            return error.head, serialization.event(
                message, name="reset", identity=serialization.event_id(error.head, self._broadcaster.log)
            )
        return since, serialization.id_field(since, self._broadcaster.log)

    async def _matching_items(
        self, store: Store, since: int, keywords: str | None, limit: int
    ) -> tuple[Sequence[bytes], int]:
        """Return up to `limit` encoded changes after `since` that match, and the seq of the last change read.

        The page ends after about PAGE_BYTES.
        """
        size, end = limit, since + MAX_SCANNED
        if keywords is not None:
            size = min(max(limit, FIRST_SCAN), SCAN_SIZE)
        items: list[bytes] = []
        left = PAGE_BYTES
        while len(items) < limit and left > 0 and since < end:
            changes = await store.changes(since, min(size, end - since))
            if not changes:
                break
            more, since = await self._offload(
                encode_matching,
                changes,
                keywords,
                self._matching,
                serialization.change_item,
                limit=limit - len(items),
                max_bytes=left,
            )
            items += more
            left -= sum(map(len, more))
            if keywords is not None:
                size = min(2 * size, SCAN_SIZE)
        return items, since


def wants_stream(accepted: Sequence[str]) -> bool:
    """Return whether `Accept` names event streams with a higher quality than JSON (RFC 9110, section 12.5.1)."""
    ranked = parse_accept_header(", ".join(accepted).lower(), MIMEAccept)
    qualities = {kind.partition(";")[0]: quality for kind, quality in reversed(ranked)}
    return qualities.get("text/event-stream", 0) > qualities.get("application/json", 0)
