"""The change log: its positions, and the feed that delivers it to subscribers."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import define, field
from twisted.application.service import Service
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IDelayedCall, IReactorTime
from twisted.logger import Logger
from twisted.python.failure import Failure

from ..domain.changes import Change
from ..domain.errors import Gone, Unavailable
from ..domain.ports.runtime import Bus
from ..domain.ports.search import Announcer, Subscriber
from ..domain.ports.storage import Store
from .index_keeper import IndexKeeper

BATCH = 4_000
"""Changes read and applied at a time. A large number, because an index does some work for each batch."""

LOADED = 20_000
"""The batch size at start-up, when no client waits."""

BATCH_BYTES, LOADED_BYTES = 8_000_000, 16_000_000
"""Bytes of entries after which a batch ends early."""

RETRY = 1.0
"""Seconds until a failed delivery is retried."""


@define(eq=False, repr=False)
class Feed(Service):
    """Deliver every change, in order, to each subscriber, and then to each announcer.

    Subscribers also receive the content of the store at start-up, or the changes after the file of the index,
    announcers only later changes. Announcers come last, so that the changes they announce are searchable. The Bus only
    signals that there is something to read; a lost wake-up delays changes until the next one, or `wake_if_behind`.
    After a failure, which is logged, the batch is delivered again: a change may arrive twice, never out of order.
    """

    _log = Logger()

    _store: Store
    _bus: Bus
    _subscribers: Sequence[Subscriber]
    _announcers: Sequence[Announcer]
    _clock: IReactorTime
    _keeper: IndexKeeper | None = None
    _seq: int = field(default=0, init=False)
    _awake: bool = field(default=False, init=False)
    _pumping: Deferred[None] | None = field(default=None, init=False)
    _retry: IDelayedCall | None = field(default=None, init=False)
    _unavailable: bool = field(default=False, init=False)
    loaded: bool = field(default=False, init=False)
    """Whether the subscribers have received the content of the store at start-up."""

    def __attrs_post_init__(self) -> None:
        self._bus.subscribe(self.wake)

    @property
    def seq(self) -> int:
        """The number of the last change that all subscribers and announcers have received."""
        return self._seq

    async def load(self) -> None:
        """Deliver the content of the store to the subscribers; delivery of changes continues from there."""
        if self._keeper is None or not await self._resume(self._keeper):
            await self._load_all()
        for announcer in self._announcers:
            announcer.begin(self._seq)
        self.loaded = True

    async def _resume(self, keeper: IndexKeeper) -> bool:
        """Deliver the changes after those in the file of the index; return False if there is no usable file."""
        self._seq = await keeper.load()
        if not self._seq:
            return False
        while True:
            while changes := await self._store.changes(self._seq, LOADED, LOADED_BYTES):
                await self._deliver(changes, self._subscribers)
            count = await self._store.count()
            # Otherwise there were changes meanwhile, and the count is newer than the index.
            if await self._store.head() == self._seq:
                return await keeper.confirm(count)

    async def _load_all(self) -> None:
        # Read the head first: a change during the load is then delivered twice instead of missed.
        self._seq = await self._store.head()
        after = ""
        while changes := await self._store.current(after, LOADED, LOADED_BYTES):
            for subscriber in self._subscribers:
                await subscriber.apply(changes)
            after = changes[-1].mcp_id
        for subscriber in self._subscribers:
            await subscriber.apply([])

    async def _deliver(self, changes: Sequence[Change], to: Sequence[Subscriber]) -> None:
        for subscriber in to:
            await subscriber.apply(changes)
        self._seq = changes[-1].seq

    def wake(self) -> None:
        """Deliver new changes, after the current delivery if one is running."""
        self._awake = True
        if self.running and self._pumping is None:
            # Set before the first step, because a subscriber may wake the feed during it.
            done = self._pumping = Deferred()
            pump = Deferred.fromCoroutine(self._pump())
            pump.addErrback(self._failed)
            pump.addCallback(self._finished)
            pump.chainDeferred(done)

    def wake_if_behind(self, head: int) -> None:
        """Deliver changes if the log ends at a `head` that is not delivered: a wake-up was lost, or came too early."""
        if head > self._seq:
            self.wake()

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
            await self._deliver(changes, (*self._subscribers, *self._announcers))
        self._unavailable = False

    def _failed(self, failure: Failure) -> None:
        # The adapter logs the cause, once.
        if not failure.check(Unavailable):
            self._log.failure("Changes after {seq} could not be delivered; retrying", failure=failure, seq=self._seq)
        elif not self._unavailable:
            self._unavailable = True
            self._log.warn("Changes after {seq} cannot be read now; retrying", seq=self._seq)
        if self.running and self._retry is None:
            self._retry = self._clock.callLater(RETRY, self._retry_now)

    def _retry_now(self) -> None:
        self._retry = None
        self.wake()

    def _finished(self, _: None) -> None:
        self._pumping = None
        if self._awake and self._retry is None:
            self.wake()


async def check_position(store: Store, seq: int, log: str | None = None) -> None:
    """Raise Gone if the change log cannot be read on after `seq`, which was given out by the log with id `log`.

    The log may have been pruned beyond `seq`, or replaced by a restored backup. If `log` is None, a replaced log is
    detected only if it does not reach `seq`.
    """
    oldest, head = await store.oldest(), await store.head()
    if log is not None and log != await store.log_id():
        raise Gone(seq, oldest, head, was_restored=True)
    if not oldest - 1 <= seq <= head:
        raise Gone(seq, oldest, head)
