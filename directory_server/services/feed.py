"""The ordered change log, pumped to those that follow it."""

from __future__ import annotations

from collections.abc import Sequence

from twisted.application.service import Service
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IDelayedCall, IReactorTime
from twisted.logger import Logger
from twisted.python.failure import Failure

from ..domain.errors import Unavailable
from ..domain.ports.runtime import Bus
from ..domain.ports.search import Follower, Subscriber
from ..domain.ports.storage import Store

BATCH = 4_000
"""Changes read and applied at a time; many, for an index does some work for each batch."""

LOADED = 20_000
"""The same at the start, when nobody waits for the first."""

BATCH_BYTES, LOADED_BYTES = 8_000_000, 16_000_000
"""Bytes of entries after which a batch ends before that."""

RETRY = 1.0
"""Seconds until a pump that failed tries again."""


class Feed(Service):
    """Pump every change, in order, to each subscriber, and then to each follower.

    Subscribers are given what the store has when it is loaded, too, followers only what comes after that: they tell
    of changes that can be found by then. The Bus only says that there is something to read; a wake-up that gets lost
    delays changes until the next one. A failure is logged and the batch is pumped again, so a change may come twice,
    never out of order.
    """

    _log = Logger()

    def __init__(
        self,
        store: Store,
        bus: Bus,
        subscribers: Sequence[Subscriber],
        followers: Sequence[Follower],
        clock: IReactorTime,
    ) -> None:
        self._store = store
        self._subscribers = subscribers
        self._followers = followers
        self._clock = clock
        self._seq = 0
        self._awake = False
        self._pumping: Deferred[None] | None = None
        self._retry: IDelayedCall | None = None
        self._unavailable = False
        self.loaded = False
        """Whether the subscribers have had what was in the store at the start."""
        bus.subscribe(self.wake)

    async def load(self) -> None:
        """Bring the subscribers to the state of the store, from which the pump goes on."""
        # The head first: what changes while the entries are read is then pumped again, instead of missed.
        self._seq = await self._store.head()
        after = ""
        while changes := await self._store.current(after, LOADED, LOADED_BYTES):
            for subscriber in self._subscribers:
                await subscriber.apply(changes)
            after = changes[-1].mcp_id
        for follower in self._followers:
            follower.begin(self._seq)
        self.loaded = True

    def wake(self) -> None:
        """Pump what is new, once whatever is being pumped is through."""
        self._awake = True
        if self.running and self._pumping is None:
            # Set before the pump's first step, for a subscriber may wake the feed during that.
            done = self._pumping = Deferred()
            pump = Deferred.fromCoroutine(self._pump())
            pump.addErrback(self._failed)
            pump.addCallback(self._rest)
            pump.chainDeferred(done)

    def startService(self) -> None:
        super().startService()
        self.wake()

    def stopService(self) -> Deferred[None] | None:
        super().stopService()
        if self._retry is not None:
            self._retry.cancel()
            self._retry = None
        return self._pumping

    async def _pump(self) -> None:
        self._awake = False
        while self.running and (changes := await self._store.changes(self._seq, BATCH, BATCH_BYTES)):
            for subscriber in (*self._subscribers, *self._followers):
                await subscriber.apply(changes)
            self._seq = changes[-1].seq
        self._unavailable = False

    def _failed(self, failure: Failure) -> None:
        # The adapter logs the cause, once.
        if not failure.check(Unavailable):
            self._log.failure("Changes after {seq} could not be pumped; trying again", failure=failure, seq=self._seq)
        elif not self._unavailable:
            self._unavailable = True
            self._log.warn("Changes after {seq} cannot be read now; trying again", seq=self._seq)
        if self.running and self._retry is None:
            self._retry = self._clock.callLater(RETRY, self._again)

    def _again(self) -> None:
        self._retry = None
        self.wake()

    def _rest(self, _: None) -> None:
        self._pumping = None
        if self._awake and self._retry is None:
            self.wake()
