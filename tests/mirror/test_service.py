"""The upstream service: when a sync run starts, and its state after errors."""

from __future__ import annotations

import pytest
from attrs import evolve
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock

from directory_server.domain.errors import Unavailable
from directory_server.domain.upstreams import UpstreamState
from directory_server.mirror import SyncReport, Upstream, UpstreamFailed
from directory_server.mirror._service import CHECK_INTERVAL, UpstreamService

UPSTREAM = Upstream("a", "https://registry.example")


class RecordingMirror:
    """A mirror that records the start times of its sync runs."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.state = UpstreamState("a")
        self.started: list[float] = []
        self.fail: Exception | None = None
        self.running: Deferred[None] | None = None

    async def load_state(self, upstream: Upstream) -> UpstreamState:
        return self.state

    async def sync(self, upstream: Upstream) -> SyncReport:
        self.started.append(self.clock.seconds())
        if self.running is not None:
            await self.running
        self.state = evolve(self.state, next_run=self.clock.seconds() + 3600)
        if self.fail:
            raise self.fail
        return SyncReport()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def mirror(clock: Clock) -> RecordingMirror:
    return RecordingMirror(clock)


@pytest.fixture
def service(clock: Clock, mirror: RecordingMirror) -> UpstreamService:
    return UpstreamService(mirror, UPSTREAM, clock, clock.seconds)  # type: ignore[arg-type]


def test_syncs_at_start_and_when_due(clock: Clock, mirror: RecordingMirror, service: UpstreamService) -> None:
    service.startService()
    clock.pump([0] + [CHECK_INTERVAL] * 250)
    assert mirror.started == [0.0, 3600.0, 7200.0]
    service.stopService()
    clock.pump([CHECK_INTERVAL] * 250)
    assert len(mirror.started) == 3


def test_does_not_sync_before_it_is_due(clock: Clock, mirror: RecordingMirror, service: UpstreamService) -> None:
    mirror.state = UpstreamState("a", next_run=100.0)
    service.startService()
    clock.pump([0, CHECK_INTERVAL, CHECK_INTERVAL, CHECK_INTERVAL])
    assert mirror.started == []
    # Another process runs the sync.
    mirror.state = UpstreamState("a", next_run=3700.0)
    clock.pump([CHECK_INTERVAL] * 10)
    assert mirror.started == []


def test_syncs_on_request_before_it_is_due(clock: Clock, mirror: RecordingMirror, service: UpstreamService) -> None:
    assert not service.sync_now()
    mirror.state = UpstreamState("a", next_run=3700.0)
    service.startService()
    clock.pump([0, CHECK_INTERVAL])
    assert mirror.started == []
    mirror.running = Deferred()
    assert service.sync_now()
    assert mirror.started == [CHECK_INTERVAL]
    assert service.is_syncing
    assert not service.sync_now()
    running, mirror.running = mirror.running, None
    running.callback(None)
    assert not service.is_syncing
    # The next one is due an hour later; checks continue.
    clock.pump([CHECK_INTERVAL] * 125)
    assert mirror.started == [30.0, 3630.0]
    service.stopService()
    assert not service.sync_now()


def test_syncs_again_after_a_failure(clock: Clock, mirror: RecordingMirror, service: UpstreamService) -> None:
    mirror.fail = UpstreamFailed("It answered 500.")
    service.startService()
    clock.pump([0] + [CHECK_INTERVAL] * 125)
    assert len(mirror.started) == 2


def test_logs_unexpected_errors_and_continues(
    clock: Clock, mirror: RecordingMirror, service: UpstreamService, logged_failures: list[object]
) -> None:
    mirror.fail = ZeroDivisionError()
    service.startService()
    clock.pump([0] + [CHECK_INTERVAL] * 125)
    assert len(mirror.started) == len(logged_failures) == 2
    logged_failures.clear()


def test_does_not_start_a_second_sync(clock: Clock, mirror: RecordingMirror, service: UpstreamService) -> None:
    mirror.running = Deferred()
    service.startService()
    clock.pump([0] + [CHECK_INTERVAL] * 250)
    assert len(mirror.started) == 1


def test_stop_cancels_the_running_sync(clock: Clock, mirror: RecordingMirror, service: UpstreamService) -> None:
    mirror.running = Deferred()
    service.startService()
    clock.advance(0)
    stopped = service.stopService()
    assert stopped is not None
    assert stopped.called
    assert mirror.state == UpstreamState("a")
    assert clock.getDelayedCalls() == []


def test_a_storage_error_is_in_the_state_until_a_sync_succeeds(
    clock: Clock, mirror: RecordingMirror, service: UpstreamService
) -> None:
    message = "directory.db cannot be used now: the disk is full."
    mirror.state = UpstreamState("a", last_success=1.0)
    mirror.fail = Unavailable(message)
    service.startService()
    clock.advance(0)
    # The stored state has no error, because it could not be written.
    assert (mirror.state.error, service.state.error, service.state.failures) == ("", message, 1)
    mirror.fail, mirror.state = None, UpstreamState("a", last_success=1.0)
    clock.advance(CHECK_INTERVAL)
    assert service.state.error == ""


def test_a_read_error_is_in_the_state(clock: Clock, mirror: RecordingMirror, service: UpstreamService) -> None:
    async def unavailable(upstream: Upstream) -> UpstreamState:
        raise Unavailable("directory.db cannot be used now: the file cannot be opened.")

    mirror.load_state = unavailable  # type: ignore[method-assign]
    service.startService()
    clock.pump([0] + [CHECK_INTERVAL] * 3)
    assert "cannot be opened" in service.state.error
    assert service.state.failures == 4
