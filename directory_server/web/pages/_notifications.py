"""Notifications to open pages: the number of new servers, and the handler of their streams."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from weakref import WeakValueDictionary

from attrs import frozen

from ... import serialization
from ...domain.changes import Change
from ...domain.errors import TooManyStreams
from ...domain.scopes import Scope, change_within
from ...http import Request
from ...http.proxies import Proxies
from ...streams import Channel, Hub
from ..routes import App
from ._access import PageAccess
from ._layout import Layout

STREAMS = 8
"""Maximum number of notification streams per client address."""


class AnonymousOwners:
    """Owners of streams without a key. They stay valid."""

    async def live(self, owners: Collection[str]) -> set[str]:
        return set(owners)

    async def ended(self, within: float) -> set[str]:
        """Return the empty set."""
        return set()


class NewEntriesNotifier:
    """An Announcer that sends the number of new servers to open pages; `hub` limits streams per address and in total.

    The events contain only the number. A page is reloaded to show the servers.
    """

    def __init__(self, hub: Hub, proxies: Proxies) -> None:
        self._hub = hub
        self._proxies = proxies
        # A channel exists as long as it has a stream.
        self._channels: WeakValueDictionary[Scope, Channel] = WeakValueDictionary()
        self._seq = 0

    def begin(self, seq: int) -> None:
        self._seq = seq

    async def apply(self, changes: Sequence[Change]) -> None:
        added = [change for change in changes if change.kind == "added" and change.seq > self._seq]
        self._seq = max(self._seq, changes[-1].seq)
        for scope, channel in list(self._channels.items()):
            count = sum(change_within(change, scope) is not None for change in added)
            if count and len(channel):
                channel.send(serialization.event({"added": count}, name="added"))

    def open(self, request: Request, scope: Scope = None) -> bytes | None:
        """Open a stream of notifications about entries within `scope`. Raises TooManyStreams."""
        address = self._proxies.client(request)
        if self._hub.limit_error(address):
            raise TooManyStreams("Too many open pages receive notifications. This page receives none.")
        if request.method == b"HEAD":
            request.setHeader("Content-Type", "text/event-stream")
            return b""
        channel = self._channels.get(scope)
        if channel is None:
            channel = self._channels[scope] = self._hub.channel()
        self._hub.open(request, address, channel, is_scoped=scope is not None)
        return None


@frozen
class PageHandlers:
    """Handles `/news`."""

    app = App()

    layout: Layout
    notifier: NewEntriesNotifier
    access: PageAccess

    @app.get("/news")
    async def notifications(self, request: Request) -> bytes | None:
        """Open the stream of notifications about new entries."""
        await self.access.authenticate(request)
        return self.notifier.open(request, self.access.scope_of(request))
