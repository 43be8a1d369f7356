"""Broadcast of new changes to streams, and catch-up from the log for streams that are behind."""

from __future__ import annotations

from collections.abc import Sequence
from weakref import WeakValueDictionary

from twisted.internet.defer import Deferred
from twisted.logger import Logger
from twisted.python.failure import Failure

from ...domain.changes import Change
from ...domain.errors import Unavailable
from ...domain.ports.runtime import Offload
from ...domain.ports.search import Matching
from ...streams import Channel, Hub, Stream
from ._log_pages import LogPages, Watch, encode_events

BURST_BYTES = 16 * 1024
"""Bytes of a broadcast above which each stream reads the log at its own pace instead."""


class Broadcaster:
    """Announcer that sends each change to each stream once and in order.

    A stream that is up to date is in the channel of its watch. A stream that is behind reads the log at the pace of
    its client. It joins the channel when it has read exactly up to `seq`; nothing can run in between.
    """

    _log = Logger()

    def __init__(self, hub: Hub, pages: LogPages, matching: Matching, offload: Offload, log: str) -> None:
        self.seq = 0
        """The last change that was sent to the channels."""
        self.log = log
        """The id of the change log, a part of event ids."""
        self._hub = hub
        self._pages = pages
        self._matching = matching
        self._offload = offload
        # A channel exists as long as it has a stream.
        self._channels: WeakValueDictionary[Watch, Channel] = WeakValueDictionary()
        self._waiting: list[Deferred[None]] = []

    def begin(self, seq: int) -> None:
        self.seq = seq

    async def apply(self, changes: Sequence[Change]) -> None:
        new = [change for change in changes if change.seq > self.seq]
        if not new:
            return
        watches, events = set[Watch](), dict[Watch, bytes]()
        while not watches >= (current := set(self._channels)):
            # Encode again if a channel was added meanwhile: its streams must get these changes, too.
            watches = current
            events = await self._offload(encode_events, new, watches, self._matching, self.log, BURST_BYTES)
        before, self.seq = self.seq, new[-1].seq
        for watch, channel in list(self._channels.items()):
            if len(events[watch]) > BURST_BYTES:
                self._detach(watch, channel, before)
            elif events[watch]:
                channel.send(events[watch])
        waiting, self._waiting = self._waiting, []
        for waiter in waiting:
            waiter.callback(None)

    def follow(self, stream: Stream, since: int, watch: Watch) -> None:
        """Send the changes after `since` to an open stream, then new ones, until it ends."""
        Deferred.fromCoroutine(self._follow(stream, since, watch)).addErrback(self._failed, stream)

    async def _follow(self, stream: Stream, since: int, watch: Watch) -> None:
        while await stream.drained():
            if since == self.seq:
                stream.join(self._channel(watch))
                return
            if since < self.seq:
                page = await self._pages.read(since, self.seq, watch)
                for chunk in page.chunks:
                    stream.send(chunk)
                    if not await stream.drained():
                        return
                since = page.last
            else:
                # The client has read further from another process than this process has.
                caught_up: Deferred[None] = Deferred()
                self._waiting.append(caught_up)
                await caught_up

    def _channel(self, watch: Watch) -> Channel:
        channel = self._channels.get(watch)
        if channel is None:
            channel = self._channels[watch] = self._hub.channel()
        return channel

    def _detach(self, watch: Watch, channel: Channel, since: int) -> None:
        """Have the streams of a channel, which have got the changes up to `since`, read the log instead."""
        del self._channels[watch]
        channel.flushed().addCallback(lambda _: channel.each(lambda stream: self._catch_up(stream, since, watch)))

    def _catch_up(self, stream: Stream, since: int, watch: Watch) -> None:
        stream.join(None)
        self.follow(stream, since, watch)

    def _failed(self, failure: Failure, stream: Stream) -> None:
        if not stream.open:
            return
        # The storage logs its outage once; with thousands of streams, a line for each would hide that one.
        if failure.check(Unavailable) is None:
            self._log.failure("Cannot send changes to a stream; closing it", failure=failure)
        stream.end()
