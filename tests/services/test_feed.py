"""Feed: delivers every change in order and in batches, and retries after failures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

import pytest
from attrs import define, field
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.logger import LogEvent, Logger, formatEvent

from directory_server.composition._application import BEHIND_INTERVAL, _catch_up
from directory_server.domain.changes import Change
from directory_server.domain.errors import Unavailable
from directory_server.domain.ports.runtime import Bus
from directory_server.domain.ports.storage import Store
from directory_server.runtime.run_sync import run_sync
from directory_server.services.feed import BATCH, RETRY, Feed


@define
class StubStore:
    """A store of `length` changes, each of another entry. A read waits for `blocker`, if set.

    `bytes` records the byte limits of reads.
    """

    length: int = 0
    blocker: Deferred[None] | None = None
    bytes: set[int] = field(factory=set)
    on_current: Callable[[], None] = lambda: None

    async def head(self) -> int:
        return self.length

    async def current(self, after: str, limit: int, most: int) -> Sequence[Change]:
        changes = await self.changes(int(after or 0), limit, most)
        self.on_current()
        return changes

    async def changes(self, after: int, limit: int, most: int) -> Sequence[Change]:
        self.bytes.add(most)
        last = min(after + limit, self.length)
        if self.blocker is not None:
            await self.blocker
        return [Change(seq, "added", f"{seq:06}", None, None) for seq in range(after + 1, last + 1)]


@define
class ManualBus:
    """A bus whose `wake` the test calls."""

    wake: Callable[[], None] = lambda: None

    def subscribe(self, wake: Callable[[], None]) -> None:
        self.wake = wake


@define(slots=False)
class Subscriber:
    """Record the first and last seq of each batch, and the ends of loads.

    `apply` waits for `blocker` and raises `error`, if set.
    """

    batches: list[tuple[int, int]] = field(factory=list)
    loads: int = 0
    blocker: Deferred[None] | None = None
    error: Exception | None = None

    async def apply(self, changes: Sequence[Change]) -> None:
        if not changes:
            self.loads += 1
            return
        assert [change.seq for change in changes] == list(range(changes[0].seq, changes[-1].seq + 1))
        if self.blocker is not None:
            await self.blocker
        if self.error is not None:
            raise self.error
        self.batches.append((changes[0].seq, changes[-1].seq))


@define(slots=False)
class Announcer(Subscriber):
    """Record the position after which the announcer starts."""

    position: int | None = None

    def begin(self, seq: int) -> None:
        self.position = seq


@define
class FeedSetup:
    """A feed with a store, two subscribers and an announcer."""

    store: StubStore = field(factory=StubStore)
    bus: ManualBus = field(factory=ManualBus)
    first: Subscriber = field(factory=Subscriber)
    second: Subscriber = field(factory=Subscriber)
    announcer: Announcer = field(factory=Announcer)
    clock: Clock = field(factory=Clock)
    feed: Feed = field(init=False)

    def __attrs_post_init__(self) -> None:
        store, bus = cast(Store, self.store), cast(Bus, self.bus)
        self.feed = Feed(store, bus, [self.first, self.second], [self.announcer], self.clock)

    def append(self, changes: int = 1) -> None:
        """Append changes to the store and wake the feed."""
        self.store.length += changes
        self.bus.wake()


@pytest.fixture
def setup() -> FeedSetup:
    return FeedSetup()


def test_delivers_each_change_once_in_order_and_in_batches(setup: FeedSetup) -> None:
    setup.feed.startService()
    setup.append(2 * BATCH + 1)
    setup.append()
    assert setup.first.batches == [
        (1, BATCH),
        (BATCH + 1, 2 * BATCH),
        (2 * BATCH + 1, 2 * BATCH + 1),
        (2 * BATCH + 2, 2 * BATCH + 2),
    ]
    assert setup.second.batches == setup.first.batches


def test_load_delivers_all_entries_and_delivery_continues_from_there(setup: FeedSetup) -> None:
    setup.store.length = last = 4 * BATCH + 1
    run_sync(setup.feed.load())
    loaded = list(setup.first.batches)
    assert loaded == setup.second.batches
    assert [first for first, _ in loaded] == [1, *(end + 1 for _, end in loaded[:-1])]
    assert loaded[-1][1] == last
    assert (setup.first.loads, setup.second.loads, setup.announcer.loads) == (1, 1, 0)
    setup.feed.startService()
    setup.append()
    assert setup.first.batches == [*loaded, (last + 1, last + 1)]


def test_a_announcer_gets_changes_after_the_load_and_after_the_subscribers(setup: FeedSetup) -> None:
    setup.store.length = 3
    run_sync(setup.feed.load())
    assert (setup.announcer.position, setup.announcer.batches) == (3, [])
    setup.feed.startService()
    setup.second.blocker = blocker = Deferred[None]()
    setup.append(2)
    assert setup.announcer.batches == []
    blocker.callback(None)
    assert setup.announcer.batches == [(4, 5)]


def test_delivers_changes_during_the_load_at_the_start(setup: FeedSetup) -> None:
    def change() -> None:
        setup.store.length = 5

    setup.store.length = 3
    setup.store.on_current = change
    run_sync(setup.feed.load())
    setup.first.batches.clear()
    setup.feed.startService()
    assert setup.first.batches == [(4, 5)]


def test_a_wake_up_during_a_pump_is_not_lost(setup: FeedSetup) -> None:
    setup.feed.startService()
    setup.first.blocker = blocker = Deferred[None]()
    setup.append()
    setup.first.blocker = None
    # These changes are appended after the pump has read the log, while it is still busy.
    setup.append(2)
    setup.append()
    assert setup.first.batches == []
    blocker.callback(None)
    assert setup.first.batches == setup.second.batches == [(1, 1), (2, 4)]


def test_a_wake_up_during_a_read_is_not_lost(setup: FeedSetup) -> None:
    setup.store.blocker = blocker = Deferred[None]()
    setup.feed.startService()
    setup.store.blocker = None
    # The pending read will return no changes.
    setup.append()
    blocker.callback(None)
    assert setup.first.batches == setup.second.batches == [(1, 1)]


def test_a_lost_wake_up_is_made_up_for_when_the_log_is_ahead(setup: FeedSetup) -> None:
    setup.feed.startService()
    setup.store.length = 2
    setup.feed.wake_if_behind(0)
    assert setup.first.batches == []
    setup.feed.wake_if_behind(2)
    assert setup.first.batches == [(1, 2)]
    setup.store.bytes.clear()
    setup.feed.wake_if_behind(2)
    assert setup.store.bytes == set()


def test_a_server_of_several_machines_looks_regularly_whether_it_is_behind(setup: FeedSetup) -> None:
    assert _catch_up(setup.feed, None, setup.clock) == []
    head = 0
    [service] = _catch_up(setup.feed, lambda: head, setup.clock)
    setup.feed.startService()
    service.startService()
    setup.store.length = head = 3
    setup.clock.advance(BEHIND_INTERVAL)
    assert setup.first.batches == [(1, 3)]
    service.stopService()


def test_a_wake_up_by_a_subscriber_starts_no_second_delivery(setup: FeedSetup) -> None:
    apply = setup.second.apply

    async def apply_and_wake(changes: Sequence[Change]) -> None:
        await apply(changes)
        setup.bus.wake()

    setup.second.apply = apply_and_wake  # type: ignore[method-assign]
    setup.feed.startService()
    setup.append(3)
    assert setup.first.batches == [(1, 3)]


def test_a_failure_is_logged_and_the_batch_delivered_again(setup: FeedSetup, logged_failures: list[LogEvent]) -> None:
    setup.feed.startService()
    setup.second.error = RuntimeError("a full disk")
    setup.append(BATCH + 1)
    assert [event["log_failure"].value for event in logged_failures] == [setup.second.error]
    assert setup.second.batches == []
    setup.clock.advance(RETRY)
    assert len(logged_failures) == 2
    setup.second.error = None
    setup.clock.advance(RETRY)
    assert setup.second.batches == [(1, BATCH), (BATCH + 1, BATCH + 1)]
    # The subscriber that did not fail gets its batch again.
    assert setup.first.batches == [(1, BATCH)] * 2 + setup.second.batches
    assert setup.clock.getDelayedCalls() == []
    logged_failures.clear()


def test_an_unavailable_store_is_logged_once(setup: FeedSetup, monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[str] = []
    monkeypatch.setattr(setup.feed, "_log", Logger(observer=lambda event: lines.append(formatEvent(event))))  # type: ignore[arg-type]
    setup.feed.startService()
    for outage in (1, 2):
        setup.second.error = Unavailable("directory.db cannot be used now: the disk is full.")
        setup.append()
        setup.clock.pump([RETRY] * 3)
        assert lines == [f"Changes after {seq} cannot be read now; retrying" for seq in range(outage)]
        setup.second.error = None
        setup.clock.advance(RETRY)


def test_a_wake_up_delivers_before_the_retry(setup: FeedSetup, logged_failures: list[LogEvent]) -> None:
    setup.feed.startService()
    setup.first.error = RuntimeError("once")
    setup.append()
    setup.first.error = None
    setup.append()
    assert setup.first.batches == [(1, 2)]
    setup.clock.advance(RETRY)
    assert setup.first.batches == [(1, 2)]
    logged_failures.clear()


def test_several_failures_schedule_one_retry(setup: FeedSetup, logged_failures: list[LogEvent]) -> None:
    setup.feed.startService()
    setup.first.error = RuntimeError("always")
    for _ in range(3):
        setup.append()
    assert len(setup.clock.getDelayedCalls()) == 1
    setup.feed.stopService()
    assert setup.clock.getDelayedCalls() == []
    logged_failures.clear()


def test_stopping_waits_for_the_current_batch_only(setup: FeedSetup) -> None:
    setup.feed.startService()
    setup.second.blocker = blocker = Deferred[None]()
    setup.append(BATCH + 1)
    stopped = setup.feed.stopService()
    assert stopped is not None
    assert not stopped.called
    blocker.callback(None)
    assert stopped.called
    assert setup.first.batches == setup.second.batches == [(1, BATCH)]
    setup.append()
    assert setup.first.batches == [(1, BATCH)]


def test_a_failure_while_stopping_is_logged_and_not_retried(setup: FeedSetup, logged_failures: list[LogEvent]) -> None:
    setup.feed.startService()
    setup.second.blocker = blocker = Deferred[None]()
    setup.append()
    stopped = setup.feed.stopService()
    setup.second.error = RuntimeError("too late")
    blocker.callback(None)
    assert stopped is not None
    assert stopped.called
    assert len(logged_failures) == 1
    assert setup.clock.getDelayedCalls() == []
    logged_failures.clear()
