"""Rate-limited notifications of directory changes to MCP clients."""

from __future__ import annotations

from collections.abc import Sequence
from weakref import WeakValueDictionary

from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import deferLater
from twisted.logger import Logger

from ...domain.changes import Change
from ...serialization import Id
from ...streams import Channel, Hub
from ._subscriptions import list_changed

INTERVAL = 60.0
"""Minimum seconds between two announcements: each one makes every client request the list."""

SPREAD = 10.0
"""Seconds over which an announcement is delivered, so that the clients do not all send a request at once."""


class Announcements:
    """Follower that announces changes to MCP streams.

    It announces the first change at once, and all changes of the following INTERVAL together at its end.
    """

    _log = Logger()

    def __init__(self, hub: Hub, clock: IReactorTime) -> None:
        self._hub = hub
        self._clock = clock
        self._earliest = 0.0
        self._due = False
        # Keyed by the event that a channel sends. A channel exists as long as it has a stream.
        self._channels: WeakValueDictionary[bytes, Channel] = WeakValueDictionary()

    def begin(self, seq: int) -> None:
        """Do nothing: earlier changes are not announced."""

    async def apply(self, changes: Sequence[Change]) -> None:
        if not self._due:
            self._due = True
            delay = max(0.0, self._earliest - self._clock.seconds())
            deferLater(self._clock, delay, self._announce).addErrback(
                lambda failure: self._log.failure("Cannot announce a change to all MCP clients", failure=failure)
            )

    def channel(self, subscription: Id | None) -> Channel:
        """Return the channel of the streams with this subscription id, None for streams without a subscription."""
        event = list_changed(subscription)
        channel = self._channels.get(event)
        if channel is None:
            channel = self._channels[event] = self._hub.channel()
        return channel

    def _announce(self) -> Deferred[None]:
        self._due = False
        self._earliest = self._clock.seconds() + INTERVAL
        return Deferred.fromCoroutine(self._send())

    async def _send(self) -> None:
        channels = list(self._channels.items())
        total = sum(len(channel) for _, channel in channels)
        for event, channel in channels:
            # Proportional shares: the streams may be in one channel, or each in its own.
            share = SPREAD * len(channel) / max(total, 1)
            channel.send(event, over=share)
            await deferLater(self._clock, share)
