"""The open streams of a process: limits per key and in all, heartbeats, revoked keys, and the stop of the server."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from random import Random
from sys import intern
from typing import Protocol

from twisted.application.service import Service
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import deferLater
from twisted.logger import Logger
from twisted.python.failure import Failure

from ..domain.errors import Unavailable
from ..domain.ports.runtime import Bus
from ..http import Request
from ..runtime.timers import Timer
from ..texts.wording import counted
from ._channel import BATCH, BatchRunner, Channel
from ._stream import HEARTBEAT, RETRY, Stream

SHUTDOWN_SPREAD = 10_000
"""Milliseconds over which clients reconnect after the server stops."""

ROTATION_SPREAD = 1_000
"""Milliseconds within which a client reconnects after its stream ended because of its age."""

SCOPED_AGE = 60.0
"""Seconds after which a stream within a scope ends: its client reconnects, and its scope is decided again."""

SLOTS = 16
"""Slots of the timing wheel. The streams of one slot get their heartbeats together."""

_FIELDS = {
    b"content-type": b"Content-Type: text/event-stream",
    b"cache-control": b"Cache-Control: no-cache, no-transform",
    b"x-accel-buffering": b"X-Accel-Buffering: no",
}
"""Header fields of streams. nginx does not buffer a response with the last one."""

CHECK_INTERVAL = 0.4
"""Minimum seconds between two checks of the keys that have open streams."""

CHECK_OVERLAP = 60.0
"""Seconds that two checks of ended keys overlap: the clocks of processes may differ."""


class Owners(Protocol):
    """The owners of streams, by id. A KeyRing is one."""

    async def live(self, owners: Collection[str], /) -> set[str]:
        """Return those of `owners` that may still have open streams."""

    async def ended(self, within: float, /) -> set[str]:
        """Return the owners that ended in the last `within` seconds."""


class Hub(Service):
    """The open streams of this process.

    `per_key` and `total` limit their number. Each stream gets a heartbeat every `heartbeat` seconds, ends after about
    `rotation` seconds, and is aborted when its reader has not read for `stall` seconds. When the service stops, it
    ends all streams, and aborts those that are still open after `grace` seconds.
    """

    _log = Logger()

    def __init__(
        self,
        keys: Owners,
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
        """Streams that were aborted because their readers did not read."""
        self.seconds = clock.seconds
        self.stall = stall
        self._keys = keys
        self._random = random
        self._per_key = per_key
        self._total = total
        self._age = rotation / heartbeat
        self._scoped_age = max(1, int(SCOPED_AGE / heartbeat))
        self._grace = grace
        self._clock = clock
        self._batches = BatchRunner(clock)
        self._open_by_key: Counter[str] = Counter()
        self._open = 0
        # The wheel turns once per heartbeat interval. A new stream is put in the slot that was served last.
        self._wheel: list[set[Stream]] = [set() for _ in range(SLOTS)]
        self._position = 0
        self._timer = Timer(heartbeat / SLOTS, self._turn_wheel, clock, at_start=False, counts=True)
        self._all_closed: Deferred[None] | None = None
        self._check_requested = self._full_check_requested = self._checking = False
        self._checked_at = clock.seconds()
        bus.subscribe(self._check)

    def __len__(self) -> int:
        return self._open

    @property
    def sockets(self) -> int:
        """The number of connections of streams, including streams that have ended and are not closed yet."""
        return sum(map(len, self._wheel))

    def limit_error(self, key_id: str) -> str:
        """Return the error message if a key may not open another stream now, else an empty string."""
        if self._open_by_key[key_id] >= self._per_key:
            return "This key has reached its limit of open streams."
        if self._open >= self._total:
            return "This server has reached its limit of open streams."
        return ""

    def channel(self) -> Channel:
        """Return a new, empty channel."""
        return Channel(self._batches)

    def open(
        self,
        request: Request,
        key_id: str,
        channel: Channel | None = None,
        first: bytes = b"",
        *,
        last: bytes = b"",
        is_scoped: bool = False,
    ) -> Stream:
        """Respond to `request` with a stream. The handler must then return None.

        The stream starts with `first` or a heartbeat, joins `channel`, and sends `last` as its last event unless it is
        aborted. It is not open if the client has disconnected. The caller handles HEAD and checks `limit_error` before.
        With `is_scoped` it ends after SCOPED_AGE.
        """
        heartbeats = self._heartbeats()
        stream = Stream(self, intern(key_id), last, min(heartbeats, self._scoped_age) if is_scoped else heartbeats)
        if request.disconnected:
            # The client has left while the request was handled.
            stream.open = False
            return stream
        request.set_fields(_FIELDS)
        head = request.switch_protocol(stream)
        self._open += 1
        self._open_by_key[stream.key_id] += 1
        stream.slot = self._wheel[self._position]
        stream.slot.add(stream)
        stream.join(channel)
        # Without `retry`, at which the official Java SDK fails. Other clients wait before they reconnect anyway.
        stream.send(head + (first or HEARTBEAT))
        if not self.running:
            stream.end(self._reconnect_later())
        return stream

    def release(self, stream: Stream) -> None:
        """Stop counting a stream that has ended."""
        self._open -= 1
        self._open_by_key[stream.key_id] -= 1
        if not self._open_by_key[stream.key_id]:
            del self._open_by_key[stream.key_id]

    def forget(self, stream: Stream) -> None:
        """Remove a stream whose connection is closed."""
        stream.slot.discard(stream)
        if self._all_closed is not None and not self._all_closed.called and not any(self._wheel):
            self._all_closed.callback(None)

    def reconnect_soon(self) -> int:
        """Return a random `retry` in milliseconds for a stream that ends because of its age."""
        return self._random.randrange(ROTATION_SPREAD // 10, ROTATION_SPREAD)

    def startService(self) -> None:
        super().startService()
        self._all_closed = None
        self._timer.startService()

    def stopService(self) -> Deferred[None]:
        super().stopService()
        self._timer.stopService()
        self._all_closed = Deferred()
        streams = [stream for slot in self._wheel for stream in slot]
        # Each gets a different `retry`, or all clients would reconnect at once.
        self._batches.run(self._batches.each(streams, lambda stream: stream.end(self._reconnect_later())))
        if not streams:
            self._all_closed.callback(None)
        return self._all_closed.addTimeout(self._grace, self._clock).addErrback(self._abort_remaining)

    def _abort_remaining(self, _: Failure) -> None:
        left = [stream for slot in self._wheel for stream in slot]
        self._log.warn("{streams} did not close in time: aborted", streams=counted(len(left), "stream"))
        for stream in left:
            stream.abort()

    def _reconnect_later(self) -> int:
        return RETRY + self._random.randrange(SHUTDOWN_SPREAD)

    def _heartbeats(self) -> int:
        """Return the random number of heartbeats after which a new stream ends."""
        return max(1, round(self._age * self._random.uniform(0.8, 1.2)))

    def _turn_wheel(self, slots: int) -> None:
        """Start the heartbeats of the next `slots` slots of the wheel."""
        # `slots` is above 1 when the reactor was late.
        for _ in range(min(slots, SLOTS)):
            self._position = (self._position + 1) % SLOTS
            self._batches.run(self._batches.each(list(self._wheel[self._position]), Stream.heartbeat))
            if self._position == 0:
                # The bus does not announce that a key expires, and a removed key is not among the ended ones.
                self._check(full=True)

    def _check(self, *, full: bool = False) -> None:
        """End the streams of keys that ended since the last check, or of all keys that are not live if `full`."""
        self._check_requested = True
        self._full_check_requested |= full
        if not self._open_by_key:
            self._checked_at = self._clock.seconds()
        elif not self._checking:
            self._checking = True
            self._batches.run(self._checks())

    def _checks(self) -> Iterator[Deferred[None]]:
        # During an import the bus wakes often, and each stream may have a different key.
        while self._check_requested:
            full = self._full_check_requested
            self._check_requested = self._full_check_requested = False
            yield Deferred.fromCoroutine(self._end_recently_ended()).addErrback(self._check_failed, False)
            keys = list(self._open_by_key) if full else []
            for start in range(0, len(keys), BATCH):
                ended = Deferred.fromCoroutine(self._end_not_live(set(keys[start : start + BATCH])))
                yield ended.addErrback(self._check_failed, True)
            yield deferLater(self._clock, CHECK_INTERVAL)
        self._checking = False

    async def _end_recently_ended(self) -> None:
        now = self._clock.seconds()
        self._end_streams(await self._keys.ended(now - self._checked_at + CHECK_OVERLAP) & self._open_by_key.keys())
        self._checked_at = now

    async def _end_not_live(self, keys: set[str]) -> None:
        self._end_streams(keys - await self._keys.live(keys))

    def _end_streams(self, ended: set[str]) -> None:
        if ended:
            for stream in [stream for slot in self._wheel for stream in slot if stream.key_id in ended]:
                stream.end()

    def _check_failed(self, failure: Failure, full: bool) -> None:
        if failure.check(Unavailable) is None:
            self._log.failure("Checking the keys of open streams failed", failure=failure)
        elif self.running:
            # The storage has logged why. No wake of the bus repeats the check that failed.
            self._check_requested = True
            self._full_check_requested |= full
