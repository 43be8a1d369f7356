"""Pages of the change log as encoded events, read and encoded once for all streams."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial

from attrs import frozen
from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

from ... import serialization
from ...domain.changes import Change
from ...domain.kinds import is_asked
from ...domain.ports.runtime import Offload
from ...domain.ports.search import Matching
from ...domain.ports.storage import Store
from ...domain.scopes import Scope, change_within

PAGE_SIZE = 100
"""Maximum changes in a page."""

PAGE_BYTES = 48 * 1024
"""Bytes of events after which a page ends, as many as are buffered for a slow client."""

CACHED_PAGES = 64
"""Pages in the cache: many streams read the same pages after a restart or a large import."""

Keywords = str | None
"""The filter of a client: entries with all words of a query, or None for all entries."""


@frozen
class Watch:
    """What a stream sends: the changes that match `keywords`, as readers of `scope` see them."""

    keywords: Keywords
    scope: Scope = None


CHUNK_BYTES = 16 * 1024
"""Bytes of a page sent to a stream at a time."""


@frozen
class LogPage:
    """The events of the matching changes up to `last`, in chunks of whole events."""

    chunks: Sequence[bytes]
    last: int


@frozen
class _PageKey:
    after: int
    upto: int
    watch: Watch


def encode_matching(
    changes: Sequence[Change],
    keywords: Keywords,
    matching: Matching,
    encode: Callable[[Change], bytes],
    *,
    limit: int,
    max_bytes: int,
) -> tuple[list[bytes], int]:
    """Encode up to `limit` of the `changes` that match, and return them with the seq of the last change read.

    There are fewer when they reach `max_bytes`. Without the filter `kind` all are of servers. Removals always match,
    because the text of a removed entry is no longer known.
    """
    items: list[bytes] = []
    last = 0
    for change in changes:
        if is_asked(change.name, keywords) and (
            keywords is None or change.kind == "removed" or matching(change, [keywords])
        ):
            if len(items) >= limit or max_bytes <= 0:
                break
            items.append(encode(change))
            max_bytes -= len(items[-1])
        last = change.seq
    return items, last


def encode_events(
    changes: Sequence[Change], watches: Collection[Watch], matching: Matching, log: str, max_bytes: int
) -> dict[Watch, bytes]:
    """Return the events for each of `watches`, of changes in the log with the id `log`.

    Within a scope each change is encoded once and matched once against each query. Events after the first `max_bytes`
    bytes of a watch are omitted.
    """
    events: dict[Watch, bytes] = {}
    by_scope: dict[Scope, list[Keywords]] = {}
    for watch in watches:
        by_scope.setdefault(watch.scope, []).append(watch.keywords)
    for scope, filters in by_scope.items():
        seen = [change for original in changes if (change := change_within(original, scope)) is not None]
        encoded = _events(seen, filters, matching, log, max_bytes)
        events |= {Watch(keywords, scope): data for keywords, data in encoded.items()}
    return events


def _events(
    changes: Sequence[Change], filters: Collection[Keywords], matching: Matching, log: str, max_bytes: int
) -> dict[Keywords, bytes]:
    """Return the events of `changes` for each of `filters`."""
    events: dict[Keywords, list[bytes]] = {keywords: [] for keywords in filters}
    left = dict.fromkeys(filters, max_bytes)
    for change in changes:
        asked = [keywords for keywords in filters if is_asked(change.name, keywords)]
        queries = [keywords for keywords in asked if keywords is not None]
        matched = queries if change.kind == "removed" else matching(change, queries)
        unfiltered = {None}.intersection(asked)
        if matched or unfiltered:
            event = serialization.change_event(change, log)
            for keywords in (*unfiltered, *matched):
                if left[keywords] >= 0:
                    events[keywords].append(event)
                    left[keywords] -= len(event)
    return {keywords: b"".join(parts) for keywords, parts in events.items()}


def split_events(data: bytes, size: int = CHUNK_BYTES) -> list[bytes]:
    """Split events into chunks of whole events, each of at most `size` bytes unless a single event is larger."""
    chunks, start = [], 0
    while len(data) - start > size:
        end = data.rfind(b"\n\n", start, start + size)
        if end < 0:
            end = data.find(b"\n\n", start)
        chunks.append(data[start : end + 2])
        start = end + 2
    return [*chunks, data[start:]] if start < len(data) else chunks


class LogPages:
    """Cache of pages of the directory's change log with the id `log`."""

    def __init__(self, store: Store, matching: Matching, offload: Offload, log: str) -> None:
        self._store = store
        self._matching = matching
        self._offload = offload
        self._log = log
        self._cached: dict[_PageKey, LogPage] = {}
        self._reading: dict[_PageKey, list[Deferred[LogPage]]] = {}

    async def read(self, after: int, upto: int, watch: Watch) -> LogPage:
        """Return the first page of the changes after `after` and up to `upto`. Raises Unavailable."""
        key = _PageKey(after, upto, watch)
        if key in self._cached:
            return self._cached[key]
        if key in self._reading:
            page: Deferred[LogPage] = Deferred()
            self._reading[key].append(page)
            return await page
        self._reading[key] = []
        try:
            read = self._cached[key] = await self._read(key)
        except BaseException:
            for waiting in self._reading.pop(key):
                waiting.errback(Failure())
            raise
        if len(self._cached) > CACHED_PAGES:
            del self._cached[next(iter(self._cached))]
        for waiting in self._reading.pop(key):
            waiting.callback(read)
        return read

    async def _read(self, key: _PageKey) -> LogPage:
        changes = await self._store.within(key.watch.scope).changes(key.after, PAGE_SIZE)
        changes = [change for change in changes if change.seq <= key.upto]
        if not changes:
            return LogPage((), key.upto)
        return await self._offload(_page, changes, key.watch.keywords, self._matching, self._log)


def _page(changes: Sequence[Change], keywords: Keywords, matching: Matching, log: str) -> LogPage:
    """Return the page that begins with `changes`, of the log with the id `log`, of about PAGE_BYTES at most."""
    encode = partial(serialization.change_event, log=log)
    events, last = encode_matching(changes, keywords, matching, encode, limit=PAGE_SIZE, max_bytes=PAGE_BYTES)
    if keywords is not None:
        # A client that reconnects then skips the changes that did not match.
        events.append(serialization.id_field(last, log))
    return LogPage(split_events(b"".join(events)), last)
