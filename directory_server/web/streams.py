"""Streams of server-sent events that stay open, and the one loop that keeps them alive."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import cast

from twisted.application.service import Service
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IPushProducer, IReactorTime, ITCPTransport
from twisted.internet.task import LoopingCall
from twisted.logger import Logger
from twisted.web.server import Request
from zope.interface import implementer

from ..ports import Bus, KeyRing

RETRY = 3_000
"""Milliseconds after which a client whose stream broke comes back."""

DRAIN = 10_000
"""Milliseconds over which the clients of a server that stops are told to come back."""

_BEAT = b": \n\n"


@implementer(IPushProducer)
class EventStream:
    """One open stream (WHATWG HTML, section 9.2), paused by its transport while the reader lags behind."""

    def __init__(self, request: Request, key_id: str) -> None:
        self.key_id = key_id
        self.closed: Deferred[None] = Deferred()
        self._request = request
        self._paused = False
        request.setHeader("Content-Type", "text/event-stream")
        request.setHeader("Cache-Control", "no-cache, no-transform")
        request.setHeader("X-Accel-Buffering", "no")
        request.registerProducer(self, True)
        request.write(b"retry: %d\n\n" % RETRY)

    def beat(self) -> None:
        """Send the comment that keeps the connection alive; cut a reader that has not read since the last one."""
        if self._paused:
            cast(ITCPTransport, self._request.transport).abortConnection()
        else:
            self._request.write(_BEAT)

    def end(self, retry: int) -> None:
        """End the stream cleanly, asking its reader to come back in `retry` milliseconds."""
        if not self.closed.called:
            self._request.write(b"retry: %d\n\n" % retry)
            self._request.unregisterProducer()
            self.closed.callback(None)

    def pauseProducing(self) -> None:
        self._paused = True

    def resumeProducing(self) -> None:
        self._paused = False

    def stopProducing(self) -> None:
        self._paused = True


class Hub(Service):
    """All open streams: how many each key has, their heartbeat, and their end with the key or the server."""

    _log = Logger()

    def __init__(
        self, keys: KeyRing, bus: Bus, clock: IReactorTime, random: Random, *, per_key: int, heartbeat: float
    ) -> None:
        self._keys = keys
        self._heartbeat = heartbeat
        self._per_key = per_key
        self._random = random
        self._streams: set[EventStream] = set()
        self._leases: Counter[str] = Counter()
        self._loop = LoopingCall(self._beat)
        self._loop.clock = clock
        bus.subscribe(self._check)

    def __len__(self) -> int:
        return len(self._streams)

    def full(self, key_id: str) -> bool:
        """Tell whether a key has as many streams open as one may."""
        return self._leases[key_id] >= self._per_key

    async def hold(self, request: Request, key_id: str) -> None:
        """Answer `request` with a stream, and return when that has ended, by whichever side."""
        stream = EventStream(request, key_id)
        self._streams.add(stream)
        self._leases[key_id] += 1
        try:
            await stream.closed
        finally:
            self._streams.discard(stream)
            self._leases[key_id] -= 1
            if not self._leases[key_id]:
                del self._leases[key_id]

    def startService(self) -> None:
        super().startService()
        self._loop.start(self._heartbeat, now=False).addErrback(
            lambda failure: self._log.failure("The heartbeat of the streams stopped", failure=failure)
        )

    def stopService(self) -> None:
        super().stopService()
        if self._loop.running:
            self._loop.stop()
        for stream in list(self._streams):
            # Spread over some seconds, or all of them would come back at once.
            stream.end(RETRY + self._random.randrange(DRAIN))

    def _beat(self) -> None:
        for stream in list(self._streams):
            stream.beat()
        # Keys expire without anybody announcing it.
        self._check()

    def _check(self) -> None:
        if self._leases:
            Deferred.fromCoroutine(self._end_revoked()).addErrback(
                lambda failure: self._log.failure("The keys of open streams could not be checked", failure=failure)
            )

    async def _end_revoked(self) -> None:
        held = set(self._leases)
        ended = held - await self._keys.live(held)
        for stream in [stream for stream in self._streams if stream.key_id in ended] if ended else ():
            stream.end(RETRY)
