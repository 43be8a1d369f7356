"""When MCP clients are told that the directory has changed: seldom, and not all at once."""

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
from ._subscriptions import changed

INTERVAL = 60.0
"""Seconds from one announcement to the next, at least: it makes every client ask for the list."""

SPREAD = 10.0
"""Seconds over which an announcement is delivered, so that not all of them ask at once."""


class Announcements:
    """A Follower that announces changes: the first at once, those of the INTERVAL after it together at its end."""

    _log = Logger()

    def __init__(self, hub: Hub, clock: IReactorTime) -> None:
        self._hub = hub
        self._clock = clock
        self._earliest = 0.0
        self._due = False
        # By the frame that its streams are sent; a channel lives for as long as one is in it.
        self._channels: WeakValueDictionary[bytes, Channel] = WeakValueDictionary()

    def begin(self, seq: int) -> None:
        """Do nothing: what was there before is no change."""

    async def apply(self, changes: Sequence[Change]) -> None:
        if not self._due:
            self._due = True
            delay = max(0.0, self._earliest - self._clock.seconds())
            deferLater(self._clock, delay, self._announce).addErrback(
                lambda failure: self._log.failure("Not all clients were told of a change", failure=failure)
            )

    def channel(self, subscription: Id | None) -> Channel:
        """Return the channel of the streams with this subscription id, or (None) of those without one."""
        frame = changed(subscription)
        channel = self._channels.get(frame)
        if channel is None:
            channel = self._channels[frame] = self._hub.channel()
        return channel

    def _announce(self) -> Deferred[None]:
        self._due = False
        self._earliest = self._clock.seconds() + INTERVAL
        return Deferred.fromCoroutine(self._tell())

    async def _tell(self) -> None:
        channels = list(self._channels.items())
        total = sum(len(channel) for _, channel in channels)
        for frame, channel in channels:
            # Each takes its share of the time, for clients may all have the same id or each its own.
            share = SPREAD * len(channel) / max(total, 1)
            channel.send(frame, over=share)
            await deferLater(self._clock, share)
