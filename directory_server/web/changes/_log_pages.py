"""Pages of the log as frames, read and encoded once for all who want them."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from attrs import frozen
from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

from ... import serialization
from ...domain.changes import Change
from ...domain.ports.runtime import Offload
from ...domain.ports.search import Matching
from ...services.directory import Directory

PAGE = 100
"""Changes in a page."""

FRAME_BYTES = 48 * 1024
"""Bytes of frames after which such a page ends: as many as are kept for a reader who lags behind."""

KEPT = 64
"""Pages that are kept: many streams read the same ones when a server has come back, or much has changed at once."""

Asked = str | None
"""Whose changes somebody wants: those of entries with all the words of a query, or all."""


PIECE = 16 * 1024
"""Bytes of a page that are sent to a stream at a time; its frames are kept once for all streams until then."""


@frozen
class LogPage:
    """The frames of the changes up to `last` that somebody wants, in pieces of whole frames."""

    pieces: Sequence[bytes]
    last: int


@frozen
class _Place:
    after: int
    upto: int
    asked: Asked


def passing(changes: Sequence[Change], query: Asked, matching: Matching) -> Sequence[Change]:
    """Return those of `changes` that one who asked for `query` is told of.

    Removals are among them whatever the query is, for what the entry said is gone with it.
    """
    if query is None:
        return changes
    return [change for change in changes if change.kind == "removed" or matching(change, [query])]


def items(
    changes: Sequence[Change], query: Asked, matching: Matching, limit: int, most: int
) -> tuple[list[bytes], int]:
    """Return at most `limit` of `changes` that one who asked for `query` is told of, and the place up to which.

    They are encoded. There are fewer where they have `most` bytes together.
    """
    found: list[bytes] = []
    place = 0
    for change in changes:
        if passing([change], query, matching):
            if len(found) >= limit or most <= 0:
                break
            found.append(serialization.change_item(change))
            most -= len(found[-1])
        place = change.seq
    return found, place


def frames(
    changes: Sequence[Change], asked: Collection[Asked], matching: Matching, log: str, most: int
) -> dict[Asked, bytes]:
    """Return the frames for each of `asked`, of changes in the log with the id `log`.

    Each change is encoded once, and looked at once for each query. For one of `asked` with more than `most` bytes of
    frames, those behind the first `most` bytes are left out.
    """
    found: dict[Asked, list[bytes]] = {each: [] for each in asked}
    left = dict.fromkeys(asked, most)
    queries = [each for each in asked if each is not None]
    everything = {None} & found.keys()
    for change in changes:
        matched = queries if change.kind == "removed" else matching(change, queries)
        if matched or everything:
            frame = serialization.change_event(change, log)
            for each in (*everything, *matched):
                if left[each] >= 0:
                    found[each].append(frame)
                    left[each] -= len(frame)
    return {each: b"".join(parts) for each, parts in found.items()}


def pieces(data: bytes, size: int = PIECE) -> list[bytes]:
    """Return frames in pieces of whole frames, each of at most `size` bytes unless one frame alone has more."""
    found, start = [], 0
    while len(data) - start > size:
        end = data.rfind(b"\n\n", start, start + size)
        if end < 0:
            end = data.find(b"\n\n", start)
        found.append(data[start : end + 2])
        start = end + 2
    return [*found, data[start:]] if start < len(data) else found


class LogPages:
    """Reads the log of `directory`, whose id is `log`, page by page."""

    def __init__(self, directory: Directory, matching: Matching, offload: Offload, log: str) -> None:
        self._directory = directory
        self._matching = matching
        self._offload = offload
        self._log = log
        self._kept: dict[_Place, LogPage] = {}
        self._reading: dict[_Place, list[Deferred[LogPage]]] = {}

    async def read(self, after: int, upto: int, asked: Asked) -> LogPage:
        """Return the first page of what lies behind `after`, none of it beyond `upto`. Raises Unavailable."""
        place = _Place(after, upto, asked)
        if place in self._kept:
            return self._kept[place]
        if place in self._reading:
            page: Deferred[LogPage] = Deferred()
            self._reading[place].append(page)
            return await page
        self._reading[place] = []
        try:
            read = self._kept[place] = await self._read(place)
        except BaseException:
            for waiting in self._reading.pop(place):
                waiting.errback(Failure())
            raise
        if len(self._kept) > KEPT:
            del self._kept[next(iter(self._kept))]
        for waiting in self._reading.pop(place):
            waiting.callback(read)
        return read

    async def _read(self, place: _Place) -> LogPage:
        changes = await self._directory.changes(place.after, PAGE)
        changes = [change for change in changes if change.seq <= place.upto]
        if not changes:
            return LogPage((), place.upto)
        return await self._offload(_page, changes, place.asked, self._matching, self._log)


def _page(changes: Sequence[Change], asked: Asked, matching: Matching, log: str) -> LogPage:
    """Return the page that begins with `changes`, of the log with the id `log`; FRAME_BYTES of frames end it."""
    parts: list[bytes] = []
    left, last = FRAME_BYTES, 0
    for change in changes:
        if left <= 0:
            break
        if passing([change], asked, matching):
            parts.append(serialization.change_event(change, log))
            left -= len(parts[-1])
        last = change.seq
    # So that one who comes back need not look again at what was nothing for him.
    return LogPage(pieces(b"".join([*parts, serialization.place(last, log)] if asked is not None else parts)), last)
