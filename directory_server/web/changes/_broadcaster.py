"""The changes as they happen, to those who are up to date, and the way there for the others."""

from __future__ import annotations

from collections.abc import Sequence
from weakref import WeakValueDictionary

from twisted.internet.defer import Deferred
from twisted.logger import Logger
from twisted.python.failure import Failure

from ...domain.changes import Change
from ...domain.ports.runtime import Offload
from ...domain.ports.search import Matching
from ...streams import Channel, Hub, Stream
from ._log_pages import Asked, LogPages, frames

BURST = 16 * 1024
"""Bytes of changes that come at once, beyond which each reader takes them at a pace of its own."""


class Broadcaster:
    """A Follower that tells streams of changes: each of every one, once and in order.

    A stream is either up to date, and then in the channel of those who asked for the same; or it is on its way there,
    and then reads the log at the pace of its reader. It gets into the channel when it has read exactly as far as the
    channels have been told, and nothing can happen in between.
    """

    _log = Logger()

    def __init__(self, hub: Hub, pages: LogPages, matching: Matching, offload: Offload, log: str) -> None:
        self.seq = 0
        """How far the channels have been told."""
        self.log = log
        """The id of the log of changes, which ids of events carry."""
        self._hub = hub
        self._pages = pages
        self._matching = matching
        self._offload = offload
        # A channel lives for as long as a stream is in it.
        self._channels: WeakValueDictionary[Asked, Channel] = WeakValueDictionary()
        self._ahead: list[Deferred[None]] = []

    def begin(self, seq: int) -> None:
        self.seq = seq

    async def apply(self, changes: Sequence[Change]) -> None:
        new = [change for change in changes if change.seq > self.seq]
        if not new:
            return
        asked, found = set[Asked](), dict[Asked, bytes]()
        while not asked >= (now := set(self._channels)):
            # Whoever asks for something new meanwhile is to hear of these changes, too.
            asked = now
            found = await self._offload(frames, new, asked, self._matching, self.log, BURST)
        before, self.seq = self.seq, new[-1].seq
        for each, channel in list(self._channels.items()):
            if len(found[each]) > BURST:
                self._release(each, channel, before)
            elif found[each]:
                channel.send(found[each])
        ahead, self._ahead = self._ahead, []
        for waiting in ahead:
            waiting.callback(None)

    def follow(self, stream: Stream, since: int, asked: Asked) -> None:
        """Send what lies behind `since` to an open stream, and then what happens, until it ends."""
        Deferred.fromCoroutine(self._follow(stream, since, asked)).addErrback(self._failed, stream)

    async def _follow(self, stream: Stream, since: int, asked: Asked) -> None:
        while await stream.drained():
            if since == self.seq:
                stream.join(self._channel(asked))
                return
            if since < self.seq:
                page = await self._pages.read(since, self.seq, asked)
                for piece in page.pieces:
                    stream.send(piece)
                    if not await stream.drained():
                        return
                since = page.last
            else:
                # Another process, which this reader comes from, was told before this one.
                waiting: Deferred[None] = Deferred()
                self._ahead.append(waiting)
                await waiting

    def _channel(self, asked: Asked) -> Channel:
        channel = self._channels.get(asked)
        if channel is None:
            channel = self._channels[asked] = self._hub.channel()
        return channel

    def _release(self, asked: Asked, channel: Channel, since: int) -> None:
        """Let the streams of a channel, which have been told up to `since`, read the log instead."""
        del self._channels[asked]
        channel.flushed().addCallback(lambda _: channel.each(lambda stream: self._leave(stream, since, asked)))

    def _leave(self, stream: Stream, since: int, asked: Asked) -> None:
        stream.join(None)
        self.follow(stream, since, asked)

    def _failed(self, failure: Failure, stream: Stream) -> None:
        if stream.open:
            self._log.failure("A stream cannot be told of changes; its reader is to come back", failure=failure)
            stream.end()
