"""The fair queue: order of the clients, limits and cancellation."""

from __future__ import annotations

import pytest
from twisted.internet.defer import CancelledError, Deferred

from directory_server.domain.errors import Unavailable
from directory_server.passwords import FairQueue


class Clients:
    """Clients that acquire slots, and the outcome of each, in order."""

    def __init__(self, **bounds: int) -> None:
        self.queue = FairQueue(1, **bounds)
        self.served: list[str] = []
        self.rejected: list[str] = []

    def acquire(self, *names: str) -> list[Deferred[None]]:
        """Acquire a slot for each name; the client of `a1` is `a`."""
        calls = []
        for name in names:
            call = Deferred.fromCoroutine(self.queue.acquire(name[0]))
            call.addCallbacks(lambda _, name=name: self.served.append(name), self._reject, errbackArgs=(name,))
            calls.append(call)
        return calls

    def _reject(self, failure: object, name: str) -> None:
        failure.trap(Unavailable, CancelledError)  # type: ignore[attr-defined]
        self.rejected.append(name)

    def finish(self, slots: int) -> None:
        for _ in range(slots):
            self.queue.release()


def test_clients_get_slots_round_robin() -> None:
    clients = Clients(total=50, each=8)
    clients.acquire(*(f"a{number}" for number in range(5)), "b0", "b1", "c0")
    clients.finish(8)
    assert clients.served == ["a0", "a1", "b0", "c0", "a2", "b1", "a3", "a4"]


def test_one_client_has_few_waiting_calls() -> None:
    clients = Clients(total=50, each=8)
    clients.acquire(*(f"a{number}" for number in range(70)))
    assert clients.rejected == [f"a{number}" for number in range(9, 70)]
    clients.acquire("b0")
    clients.finish(2)
    assert clients.served == ["a0", "a1", "b0"]


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
    queue = FairQueue(slots, total=1, each=1)
    for _ in range(3):
        calls = [Deferred.fromCoroutine(queue.acquire("a")) for _ in range(slots + 1)]
        assert [each.called for each in calls] == [True] * slots + [False]
        for _ in calls:
            queue.release()
        assert all(each.called for each in calls)
