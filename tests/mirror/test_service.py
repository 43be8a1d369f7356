"""The service: when a sync run starts."""

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


class Rounds:
    """A mirror double that records its sync runs."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.state = UpstreamState("a")
        self.taken: list[float] = []
        self.fail: Exception | None = None
        self.under_way: Deferred[None] | None = None

    async def load_state(self, upstream: Upstream) -> UpstreamState:
        return self.state

    async def sync(self, upstream: Upstream) -> SyncReport:
        self.taken.append(self.clock.seconds())
        if self.under_way is not None:
            await self.under_way
        self.state = evolve(self.state, next_round=self.clock.seconds() + 3600)
        if self.fail:
            raise self.fail
        return SyncReport()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def rounds(clock: Clock) -> Rounds:
    return Rounds(clock)


@pytest.fixture
def service(clock: Clock, rounds: Rounds) -> UpstreamService:
    return UpstreamService(rounds, UPSTREAM, clock, clock.seconds)  # type: ignore[arg-type]


def test_syncs_at_start_and_when_due(clock: Clock, rounds: Rounds, service: UpstreamService) -> None:
    service.startService()
    clock.pump([0] + [CHECK_INTERVAL] * 250)
    assert rounds.taken == [0.0, 3600.0, 7200.0]
    service.stopService()
    clock.pump([CHECK_INTERVAL] * 250)
    assert len(rounds.taken) == 3


def test_does_not_sync_before_it_is_due(clock: Clock, rounds: Rounds, service: UpstreamService) -> None:
    rounds.state = UpstreamState("a", next_round=100.0)
    service.startService()
    clock.pump([0, CHECK_INTERVAL, CHECK_INTERVAL, CHECK_INTERVAL])
    assert rounds.taken == []
    # Another process takes it.
    rounds.state = UpstreamState("a", next_round=3700.0)
    clock.pump([CHECK_INTERVAL] * 10)
    assert rounds.taken == []


def test_syncs_again_after_a_failure(clock: Clock, rounds: Rounds, service: UpstreamService) -> None:
    rounds.fail = UpstreamFailed("It answered 500.")
    service.startService()
    clock.pump([0] + [CHECK_INTERVAL] * 125)
    assert len(rounds.taken) == 2


def test_logs_unexpected_errors_and_continues(
    clock: Clock, rounds: Rounds, service: UpstreamService, logged_failures: list[object]
) -> None:
    rounds.fail = ZeroDivisionError()
    service.startService()
    clock.pump([0] + [CHECK_INTERVAL] * 125)
    assert len(rounds.taken) == len(logged_failures) == 2
    logged_failures.clear()


def test_does_not_start_a_second_sync(clock: Clock, rounds: Rounds, service: UpstreamService) -> None:
    rounds.under_way = Deferred()
    service.startService()
    clock.pump([0] + [CHECK_INTERVAL] * 250)
    assert len(rounds.taken) == 1


def test_stop_cancels_the_running_sync(clock: Clock, rounds: Rounds, service: UpstreamService) -> None:
    rounds.under_way = Deferred()
    service.startService()
    clock.advance(0)
    stopped = service.stopService()
    assert stopped is not None
    assert stopped.called
    assert rounds.state == UpstreamState("a")
    assert clock.getDelayedCalls() == []


def test_a_store_that_fails_is_in_the_state_until_it_answers_again(
    clock: Clock, rounds: Rounds, service: UpstreamService
) -> None:
    message = "directory.db cannot be used now: the disk is full."
    rounds.state = UpstreamState("a", last_success=1.0)
    rounds.fail = Unavailable(message)
    service.startService()
    clock.advance(0)
    # What is kept says nothing of it, for it cannot be written.
    assert (rounds.state.error, service.state.error, service.state.failures) == ("", message, 1)
    rounds.fail, rounds.state = None, UpstreamState("a", last_success=1.0)
    clock.advance(CHECK_INTERVAL)
    assert service.state.error == ""


def test_a_store_that_cannot_be_read_is_in_the_state(clock: Clock, rounds: Rounds, service: UpstreamService) -> None:
    async def unavailable(upstream: Upstream) -> UpstreamState:
        raise Unavailable("directory.db cannot be used now: the file cannot be opened.")

    rounds.load_state = unavailable  # type: ignore[method-assign]
    service.startService()
    clock.pump([0] + [CHECK_INTERVAL] * 3)
    assert "cannot be opened" in service.state.error
    assert service.state.failures == 4
