"""All open streams: how many each key may have, the loop that keeps them alive, and their end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from random import Random
from sys import intern
from typing import Protocol

from twisted.application.service import Service
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import LoopingCall, deferLater
from twisted.logger import Logger
from twisted.python.failure import Failure

from ..domain.ports.runtime import Bus
from ..http import Request
from ._batching import SLICE, BatchRunner
from ._channel import Channel
from ._stream import RETRY, Stream

DRAIN = 10_000
"""Milliseconds over which the clients of a server that stops are told to come back."""

SOON = 1_000
"""Milliseconds within which the client of a stream that was ended for its age is told to come back."""

SPOKES = 16
"""Parts of the heartbeat's interval; the streams of one are served together."""

BETWEEN = 0.4
"""Seconds between two checks of the keys that have streams open."""


class Holders(Protocol):
    """Those who hold streams, by their ids; a KeyRing is one."""

    async def live(self, holders: Collection[str], /) -> set[str]:
        """Return those of `holders` that may still have theirs."""


class Hub(Service):
    """Every open stream of this process.

    `per_key` and `total` bound how many there are. Each is sent a sign of life every `heartbeat` seconds, ended when
    it is about `rotation` seconds old, and cut when its reader has not read for `stall` seconds. One that stops has
    `grace` seconds to end them.
    """

    _log = Logger()

    def __init__(
        self,
        keys: Holders,
        bus: Bus,
        clock: IReactorTime,
        random: Random,
        *,
        per_key: int,
        total: int,
        heartbeat: float,
        rotation: float,
        stall: float,
        grace: float,
    ) -> None:
        self.cuts = 0
        """Streams that were cut, because their readers did not read."""
        self.seconds = clock.seconds
        self.stall = stall
        self._keys = keys
        self._random = random
        self._per_key = per_key
        self._total = total
        self._age = rotation / heartbeat
        self._grace = grace
        self._clock = clock
        self._slices = BatchRunner(clock)
        self._leases: Counter[str] = Counter()
        self._open = 0
        # A wheel that turns once in each interval. A stream hangs on the spoke that was the last to be served.
        self._wheel: list[set[Stream]] = [set() for _ in range(SPOKES)]
        self._turn = 0
        self._interval = heartbeat / SPOKES
        self._loop = LoopingCall.withCount(self._serve)
        self._loop.clock = clock
        self._gone: Deferred[None] | None = None
        self._woken = self._checking = False
        bus.subscribe(self._check)

    def __len__(self) -> int:
        return self._open

    @property
    def sockets(self) -> int:
        """How many connections the streams have, those included that have ended and are not closed yet."""
        return sum(map(len, self._wheel))

    def full(self, key_id: str) -> str:
        """Return why a key may not open another stream now, in a sentence; an empty text if it may."""
        if self._leases[key_id] >= self._per_key:
            return "This key has as many streams open as it may."
        if self._open >= self._total:
            return "This server has as many streams open as it may."
        return ""

    def channel(self) -> Channel:
        """Return a new channel, with no stream in it."""
        return Channel(self._slices)

    def open(
        self, request: Request, key_id: str, channel: Channel | None = None, first: bytes = b"", *, last: bytes = b""
    ) -> Stream:
        """Answer `request` with a stream, which is all that is left of it: its handler returns None after this.

        The stream begins with `first`, is in `channel` then, and gets `last` as its last frame if it ends in order.
        The caller has answered HEAD, and has asked whether the key is `full`.
        """
        stream = Stream(self, intern(key_id), last, self._beats())
        request.setHeader(b"Content-Type", b"text/event-stream")
        request.setHeader(b"Cache-Control", b"no-cache, no-transform")
        request.setHeader(b"X-Accel-Buffering", b"no")
        head = request.switch_protocol(stream)
        self._open += 1
        self._leases[stream.key_id] += 1
        stream.spoke = self._wheel[self._turn]
        stream.spoke.add(stream)
        stream.join(channel)
        stream.send(b"%sretry: %d\n\n%s" % (head, RETRY, first))
        if not self.running:
            stream.end(self._later())
        return stream

    def release(self, stream: Stream) -> None:
        """Take back the lease of a stream that ends."""
        self._open -= 1
        self._leases[stream.key_id] -= 1
        if not self._leases[stream.key_id]:
            del self._leases[stream.key_id]

    def forget(self, stream: Stream) -> None:
        """Forget a stream whose connection is gone."""
        stream.spoke.discard(stream)
        if self._gone is not None and not self._gone.called and not any(self._wheel):
            self._gone.callback(None)

    def soon(self) -> int:
        """Return the milliseconds after which the client of a stream that was ended for its age is to come back."""
        return self._random.randrange(SOON // 10, SOON)

    def startService(self) -> None:
        super().startService()
        self._gone = None
        self._loop.start(self._interval, now=False).addErrback(
            lambda failure: self._log.failure("The heartbeat of the streams stopped", failure=failure)
        )

    def stopService(self) -> Deferred[None]:
        super().stopService()
        if self._loop.running:
            self._loop.stop()
        self._gone = Deferred()
        streams = [stream for spoke in self._wheel for stream in spoke]
        # Each is told to come back at another time, or all of them would come at once.
        self._slices.run(self._slices.each(streams, lambda stream: stream.end(self._later())))
        if not streams:
            self._gone.callback(None)
        return self._gone.addTimeout(self._grace, self._clock).addErrback(self._cut_off)

    def _cut_off(self, _: Failure) -> None:
        left = [stream for spoke in self._wheel for stream in spoke]
        self._log.warn("{count} streams did not end in time and are cut", count=len(left))
        for stream in left:
            stream.cut()

    def _later(self) -> int:
        return RETRY + self._random.randrange(DRAIN)

    def _beats(self) -> int:
        """Return how many heartbeats a stream gets, spread so that those opened together do not end together."""
        return max(1, round(self._age * self._random.uniform(0.8, 1.2)))

    def _serve(self, spokes: int) -> None:
        # More than one where the reactor came late.
        for _ in range(min(spokes, SPOKES)):
            self._turn = (self._turn + 1) % SPOKES
            self._slices.run(self._slices.each(list(self._wheel[self._turn]), Stream.beat))
            if self._turn == 0:
                # Keys expire without anybody announcing it.
                self._check()

    def _check(self) -> None:
        self._woken = True
        if self._leases and not self._checking:
            self._checking = True
            self._slices.run(self._checks())

    def _checks(self) -> Iterator[Deferred[None]]:
        # During an import the Bus wakes often, and there may be as many keys as streams.
        while self._woken:
            self._woken = False
            held = list(self._leases)
            for start in range(0, len(held), SLICE):
                ended = Deferred.fromCoroutine(self._end_revoked(set(held[start : start + SLICE])))
                yield ended.addErrback(self._unchecked)
            yield deferLater(self._clock, BETWEEN)
        self._checking = False

    async def _end_revoked(self, held: set[str]) -> None:
        ended = held - await self._keys.live(held)
        if ended:
            for stream in [stream for spoke in self._wheel for stream in spoke if stream.key_id in ended]:
                stream.end()

    def _unchecked(self, failure: Failure) -> None:
        self._log.failure("The keys of open streams could not be checked", failure=failure)
