"""News for those who have a page open: how many servers were added."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ... import serialization
from ...domain.changes import Change
from ...domain.errors import TooManyStreams
from ...http import Request
from ...http.proxies import Proxies
from ...streams import Hub

STREAMS = 8
"""Open pages of one address that are told of news."""


class AnonymousOwners:
    """Owners of streams without a key. They stay valid."""

    async def live(self, owners: Collection[str]) -> set[str]:
        """Return all of `owners`."""
        return set(owners)


class NewEntriesNotifier:
    """A Follower that tells open pages of servers that were added; `hub` bounds their streams, by address and in all.

    They are told numbers alone: whoever wants to know which servers those are looks at the page again.
    """

    def __init__(self, hub: Hub, proxies: Proxies) -> None:
        self._hub = hub
        self._proxies = proxies
        self._channel = hub.channel()
        self._seq = 0

    def begin(self, seq: int) -> None:
        self._seq = seq

    async def apply(self, changes: Sequence[Change]) -> None:
        added = sum(change.kind == "added" and change.seq > self._seq for change in changes)
        self._seq = max(self._seq, changes[-1].seq)
        if added and len(self._channel):
            self._channel.send(serialization.event({"added": added}, name="added"))

    def open(self, request: Request) -> bytes | None:
        """Answer with a stream of news. Raises TooManyStreams."""
        address = self._proxies.client(request)
        if self._hub.limit_error(address):
            raise TooManyStreams("As many pages are open as may have news; this one has none.")
        if request.method == b"HEAD":
            request.setHeader("Content-Type", "text/event-stream")
            return b""
        self._hub.open(request, address, self._channel)
        return None
