"""The Feed: every change, in order, in batches, whatever fails meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

import pytest
from attrs import define, field
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.logger import LogEvent, Logger, formatEvent

from directory_server.domain.changes import Change
from directory_server.domain.errors import Unavailable
from directory_server.domain.ports.runtime import Bus
from directory_server.domain.ports.storage import Store
from directory_server.run_sync import run_sync
from directory_server.services.feed import BATCH, BATCH_BYTES, LOADED_BYTES, RETRY, Feed


@define
class Log:
    """A store that is nothing but its log, in which every change is of another entry; it answers once `gate` opens.

    It notes how many bytes each reading may have.
    """

    length: int = 0
    gate: Deferred[None] | None = None
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
        if self.gate is not None:
            await self.gate
        return [Change(seq, "added", f"{seq:06}", None, None) for seq in range(after + 1, last + 1)]


@define
class Bell:
    """A bus that is rung by hand."""

    ring: Callable[[], None] = lambda: None

    def subscribe(self, wake: Callable[[], None]) -> None:
        self.ring = wake


@define(slots=False)
class Reader:
    """A subscriber that notes the first and the last of each batch. It waits for `gate` and raises `error`, if set."""

    batches: list[tuple[int, int]] = field(factory=list)
    gate: Deferred[None] | None = None
    error: Exception | None = None

    async def apply(self, changes: Sequence[Change]) -> None:
        assert [change.seq for change in changes] == list(range(changes[0].seq, changes[-1].seq + 1))
        if self.gate is not None:
            await self.gate
        if self.error is not None:
            raise self.error
        self.batches.append((changes[0].seq, changes[-1].seq))


@define(slots=False)
class Late(Reader):
    """A follower that notes what it begins behind."""

    begun: int | None = None

    def begin(self, seq: int) -> None:
        self.begun = seq


@define
class Setting:
    """A feed between a log, two readers and a follower."""

    log: Log = field(factory=Log)
    bell: Bell = field(factory=Bell)
    first: Reader = field(factory=Reader)
    second: Reader = field(factory=Reader)
    follower: Late = field(factory=Late)
    clock: Clock = field(factory=Clock)
    feed: Feed = field(init=False)

    def __attrs_post_init__(self) -> None:
        store, bus = cast(Store, self.log), cast(Bus, self.bell)
        self.feed = Feed(store, bus, [self.first, self.second], [self.follower], self.clock)

    def append(self, changes: int = 1) -> None:
        """Have the store change, and everybody hear of it."""
        self.log.length += changes
        self.bell.ring()


def waiting() -> Deferred[None]:
    return Deferred()


@pytest.fixture
def setting() -> Setting:
    return Setting()


def test_delivers_each_change_once_in_order_and_in_batches(setting: Setting) -> None:
    setting.feed.startService()
    setting.append(2 * BATCH + 1)
    setting.append()
    assert setting.first.batches == [
        (1, BATCH),
        (BATCH + 1, 2 * BATCH),
        (2 * BATCH + 1, 2 * BATCH + 1),
        (2 * BATCH + 2, 2 * BATCH + 2),
    ]
    assert setting.second.batches == setting.first.batches


def test_a_batch_has_a_bound_in_bytes(setting: Setting) -> None:
    setting.log.length = 3
    run_sync(setting.feed.load())
    assert setting.log.bytes == {LOADED_BYTES}
    setting.feed.startService()
    assert setting.log.bytes == {LOADED_BYTES, BATCH_BYTES}


def test_delivers_earlier_changes_at_the_start(setting: Setting) -> None:
    setting.append(3)
    assert setting.first.batches == []
    setting.feed.startService()
    assert setting.first.batches == [(1, 3)]


def test_a_wake_up_without_changes_does_nothing(setting: Setting) -> None:
    setting.feed.startService()
    setting.bell.ring()
    assert setting.first.batches == []


def test_load_delivers_all_entries_and_delivery_continues_from_there(setting: Setting) -> None:
    setting.log.length = last = 4 * BATCH + 1
    run_sync(setting.feed.load())
    loaded = list(setting.first.batches)
    assert loaded == setting.second.batches
    assert [first for first, _ in loaded] == [1, *(end + 1 for _, end in loaded[:-1])]
    assert loaded[-1][1] == last
    setting.feed.startService()
    setting.append()
    assert setting.first.batches == [*loaded, (last + 1, last + 1)]


def test_a_follower_gets_only_what_comes_after_the_loading_and_after_the_subscribers(setting: Setting) -> None:
    setting.log.length = 3
    run_sync(setting.feed.load())
    assert (setting.follower.begun, setting.follower.batches) == (3, [])
    setting.feed.startService()
    setting.second.gate = gate = waiting()
    setting.append(2)
    assert setting.follower.batches == []
    gate.callback(None)
    assert setting.follower.batches == [(4, 5)]


def test_delivers_changes_during_the_load_at_the_start(setting: Setting) -> None:
    def change() -> None:
        setting.log.length = 5

    setting.log.length = 3
    setting.log.on_current = change
    run_sync(setting.feed.load())
    setting.first.batches.clear()
    setting.feed.startService()
    assert setting.first.batches == [(4, 5)]


def test_a_wake_up_during_a_pump_is_not_lost(setting: Setting) -> None:
    setting.feed.startService()
    setting.first.gate = gate = waiting()
    setting.append()
    setting.first.gate = None
    # What is appended now was not there when the pump read the log, and the pump is still busy.
    setting.append(2)
    setting.append()
    assert setting.first.batches == []
    gate.callback(None)
    assert setting.first.batches == setting.second.batches == [(1, 1), (2, 4)]


def test_a_wake_up_after_the_last_look_is_not_lost(setting: Setting) -> None:
    setting.log.gate = gate = waiting()
    setting.feed.startService()
    setting.log.gate = None
    # The pump is about to hear that there is nothing.
    setting.append()
    gate.callback(None)
    assert setting.first.batches == setting.second.batches == [(1, 1)]


def test_a_wake_up_by_a_subscriber_starts_no_second_delivery(setting: Setting) -> None:
    applied = setting.second.apply

    async def ringing(changes: Sequence[Change]) -> None:
        await applied(changes)
        setting.bell.ring()

    setting.second.apply = ringing  # type: ignore[method-assign]
    setting.feed.startService()
    setting.append(3)
    assert setting.first.batches == [(1, 3)]


def test_a_failure_is_logged_and_the_batch_delivered_again(setting: Setting, logged_failures: list[LogEvent]) -> None:
    setting.feed.startService()
    setting.second.error = RuntimeError("a full disk")
    setting.append(BATCH + 1)
    assert [event["log_failure"].value for event in logged_failures] == [setting.second.error]
    assert setting.second.batches == []
    setting.clock.advance(RETRY)
    assert len(logged_failures) == 2
    setting.second.error = None
    setting.clock.advance(RETRY)
    assert setting.second.batches == [(1, BATCH), (BATCH + 1, BATCH + 1)]
    # The one that did not fail has seen its batch again, as it may.
    assert setting.first.batches == [(1, BATCH)] * 2 + setting.second.batches
    assert setting.clock.getDelayedCalls() == []
    logged_failures.clear()


def test_an_unavailable_store_is_logged_once(setting: Setting, monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[str] = []
    monkeypatch.setattr(setting.feed, "_log", Logger(observer=lambda event: lines.append(formatEvent(event))))  # type: ignore[arg-type]
    setting.feed.startService()
    for outage in (1, 2):
        setting.second.error = Unavailable("directory.db cannot be used now: the disk is full.")
        setting.append()
        setting.clock.pump([RETRY] * 3)
        assert lines == [f"Changes after {seq} cannot be read now; retrying" for seq in range(outage)]
        setting.second.error = None
        setting.clock.advance(RETRY)


def test_a_wake_up_need_not_wait_for_the_retry(setting: Setting, logged_failures: list[LogEvent]) -> None:
    setting.feed.startService()
    setting.first.error = RuntimeError("once")
    setting.append()
    setting.first.error = None
    setting.append()
    assert setting.first.batches == [(1, 2)]
    setting.clock.advance(RETRY)
    assert setting.first.batches == [(1, 2)]
    logged_failures.clear()


def test_many_failures_make_one_retry(setting: Setting, logged_failures: list[LogEvent]) -> None:
    setting.feed.startService()
    setting.first.error = RuntimeError("always")
    for _ in range(3):
        setting.append()
    assert len(setting.clock.getDelayedCalls()) == 1
    setting.feed.stopService()
    assert setting.clock.getDelayedCalls() == []
    logged_failures.clear()


def test_stopping_waits_for_the_current_batch_only(setting: Setting) -> None:
    setting.feed.startService()
    setting.second.gate = gate = waiting()
    setting.append(BATCH + 1)
    stopped = setting.feed.stopService()
    assert stopped is not None
    assert not stopped.called
    gate.callback(None)
    assert stopped.called
    assert setting.first.batches == setting.second.batches == [(1, BATCH)]
    setting.append()
    assert setting.first.batches == [(1, BATCH)]


def test_a_failure_while_stopping_is_logged_and_not_retried(setting: Setting, logged_failures: list[LogEvent]) -> None:
    setting.feed.startService()
    setting.second.gate = gate = waiting()
    setting.append()
    stopped = setting.feed.stopService()
    setting.second.error = RuntimeError("too late")
    gate.callback(None)
    assert stopped is not None
    assert stopped.called
    assert len(logged_failures) == 1
    assert setting.clock.getDelayedCalls() == []
    logged_failures.clear()


def test_delivery_continues_after_a_restart(setting: Setting) -> None:
    setting.feed.startService()
    setting.append(2)
    assert setting.feed.stopService() is None
    setting.append(3)
    setting.feed.startService()
    assert setting.first.batches == [(1, 2), (3, 5)]
