"""The fair queue: order of groups and clients, limits, and calls that end before their turn."""

from __future__ import annotations

from collections import Counter, deque
from random import Random

import pytest
from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.task import Clock
from twisted.python.failure import Failure

from directory_server.domain.errors import Unavailable
from directory_server.runtime.fair_queue import FairQueue


class Clients:
    """Clients that acquire slots, and the outcome of each, in order."""

    def __init__(self, at_once: int = 1, **bounds: float) -> None:
        self.clock = Clock()
        self.queue = FairQueue(self.clock, lambda: Unavailable("full"), at_once, **{"seconds": 5, **bounds})  # type: ignore[arg-type]
        self.served: list[str] = []
        self.rejected: list[str] = []
        self.holding: deque[str] = deque()
        """The calls that have a slot."""

    def acquire(self, *names: str) -> list[Deferred[None]]:
        """Acquire a slot for each name; the client of `a1` is `a`, and so is its group, as that of `A1`."""
        calls = []
        for name in names:
            call = Deferred.fromCoroutine(self.queue.acquire(name[0], name[0].lower()))
            call.addCallbacks(self._serve, self._reject, callbackArgs=(name,), errbackArgs=(name,))
            calls.append(call)
        return calls

    def _serve(self, _: None, name: str) -> None:
        self.served.append(name)
        self.holding.append(name)

    def _reject(self, failure: Failure, name: str) -> None:
        failure.trap(Unavailable, CancelledError)
        self.rejected.append(name)

    def release(self, name: str) -> None:
        """Free the slot of a call; who gets it has not gone on yet."""
        self.holding.remove(name)
        self.queue.release(name[0])

    def finish(self, slots: int) -> None:
        for _ in range(slots):
            if self.holding:
                self.release(self.holding[0])
                self.clock.advance(0)

    def is_empty(self) -> bool:
        """Return whether nothing is left of any call."""
        queue = self.queue
        return not (queue._waiting or queue._held or queue._granted or self.clock.getDelayedCalls())


def test_clients_get_slots_round_robin() -> None:
    clients = Clients(total=50, each=8)
    clients.acquire(*(f"a{number}" for number in range(5)), "b0", "b1", "c0")
    clients.finish(8)
    assert clients.served == ["a0", "a1", "b0", "c0", "a2", "b1", "a3", "a4"]


def test_calls_that_wait_too_long_are_rejected() -> None:
    clients = Clients(total=50, each=8)
    clients.acquire("a0", "a1", "b0")
    clients.clock.advance(4.9)
    clients.acquire("c0")
    assert clients.rejected == []
    clients.clock.advance(0.1)
    assert clients.rejected == ["a1", "b0"]
    clients.finish(1)
    assert clients.served == ["a0", "c0"]
    clients.clock.advance(5)
    assert clients.rejected == ["a1", "b0"]
    assert clients.clock.getDelayedCalls() == []


def test_clients_of_a_group_share_turns_and_places() -> None:
    # The groups are the letters in lower case.
    clients = Clients(total=50, group=3, each=2)
    clients.acquire("x0", "a0", "a1", "A0", "A1", "b0", "b1")
    assert clients.rejected == ["A1"]
    clients.finish(7)
    assert clients.served == ["x0", "a0", "b0", "A0", "b1", "a1"]


def test_a_group_with_few_calls_replaces_a_call_of_the_largest() -> None:
    clients = Clients(total=4, group=4, each=2)
    clients.acquire("x0", "a0", "a1", "A0", "A1", "b0", "b1", "b2")
    assert clients.rejected == ["a1", "A1", "b2"]


def test_a_client_with_few_calls_replaces_one_with_many() -> None:
    clients = Clients(total=6, each=4)
    clients.acquire("x0", *(f"a{number}" for number in range(4)), "b0", "b1")
    clients.acquire("c0")
    assert clients.rejected == ["a3"]
    clients.acquire("c1")
    assert clients.rejected == ["a3", "a2"]
    clients.acquire("c2")
    assert clients.rejected == ["a3", "a2", "c2"]
    clients.finish(7)
    assert clients.served == ["x0", "a0", "b0", "c0", "a1", "b1", "c1"]


def test_a_cancelled_call_frees_its_place() -> None:
    clients = Clients(total=2, each=2)
    _, cancelled, _ = clients.acquire("a0", "a1", "b0")
    cancelled.cancel()
    clients.acquire("b1")
    clients.finish(3)
    assert (clients.served, clients.rejected) == (["a0", "b0", "b1"], ["a1"])


@pytest.mark.parametrize("slots", [1, 3])
def test_free_slots_stay_available(slots: int) -> None:
    clients = Clients(slots)
    for _ in range(3):
        clients.served.clear()
        clients.acquire(*["a"] * (slots + 1))
        assert len(clients.served) == slots
        clients.finish(slots + 1)
        assert len(clients.served) == slots + 1
    assert clients.is_empty()


def test_many_calls_of_a_client_leave_slots_for_others() -> None:
    clients = Clients(5, each_at_once=2)
    clients.acquire(*(f"a{number}" for number in range(200)), "b0", "A0", "c0")
    assert clients.served == ["a0", "a1", "b0", "A0", "c0"]
    clients.acquire("b1", "A1")
    clients.finish(3)
    assert clients.served[5:] == ["a2", "b1", "A1"]
    clients.finish(1)
    # One slot stays free, because the client that waits has two.
    clients.finish(1)
    assert clients.served[8:] == ["a3"]


def test_new_calls_do_not_overtake_those_that_wait() -> None:
    clients = Clients()
    clients.acquire("a0", "a1", "a2")
    # A call that comes in the turn in which a slot was freed.
    clients.release("a0")
    clients.acquire("a3")
    clients.clock.advance(0)
    clients.finish(3)
    assert clients.served == ["a0", "a1", "a2", "a3"]


def test_a_call_that_is_cancelled_before_it_goes_on_frees_its_slot() -> None:
    clients = Clients()
    calls = clients.acquire("a0", "a1", "a2")
    clients.release("a0")
    calls[1].cancel()
    assert (clients.served, clients.rejected) == (["a0"], ["a1"])
    clients.clock.advance(0)
    clients.finish(1)
    assert clients.served == ["a0", "a2"]
    assert clients.is_empty()


def test_a_slot_may_be_freed_at_once() -> None:
    """Callers that finish at once do not call each other, however many wait."""
    clients = Clients()
    clients.acquire("a0")
    for call in clients.acquire(*["a1"] * 2_000):
        call.addCallback(lambda _: clients.release("a1"))
    clients.release("a0")
    for _ in range(2_000):
        clients.clock.advance(0)
    assert len(clients.served) == 2_001
    assert clients.is_empty()


@pytest.mark.parametrize("seed", range(5))
def test_bounds_hold_and_nothing_is_left_whatever_happens(seed: int) -> None:
    random, calls = Random(seed), list[Deferred[None]]()
    clients = Clients(8, each_at_once=2)
    for _ in range(3_000):
        action = random.random()
        if action < 0.55 or not calls:
            calls += clients.acquire(random.choice("aAbBcCdDeE"))
        elif action < 0.9 and clients.holding:
            clients.release(random.choice(clients.holding))
        elif action < 0.95:
            random.choice(calls).cancel()
        else:
            clients.clock.advance(random.choice([0.0, 0.0, 2.0]))
        assert len(clients.holding) <= 8
        assert max(Counter(clients.holding).values(), default=0) <= 2
    while clients.holding or clients.clock.getDelayedCalls():
        clients.finish(len(clients.holding))
        clients.clock.advance(0)
    assert len(clients.served) + len(clients.rejected) == len(calls)
    assert clients.is_empty()
