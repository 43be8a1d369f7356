from __future__ import annotations

import pytest
from twisted.internet.defer import CancelledError, Deferred

from directory_server.domain.errors import Unavailable
from directory_server.passwords import FairQueue


class Line:
    """Clients that acquire slots, and the outcome of each, in order."""

    def __init__(self, **bounds: int) -> None:
        self.queue = FairQueue(1, **bounds)
        self.served: list[str] = []
        self.refused: list[str] = []

    def ask(self, *names: str) -> list[Deferred[None]]:
        """Acquire a slot for each name; the client of `a1` is `a`."""
        asked = []
        for name in names:
            turn = Deferred.fromCoroutine(self.queue.acquire(name[0]))
            turn.addCallbacks(lambda _, name=name: self.served.append(name), self._refuse, errbackArgs=(name,))
            asked.append(turn)
        return asked

    def _refuse(self, failure: object, name: str) -> None:
        failure.trap(Unavailable, CancelledError)  # type: ignore[attr-defined]
        self.refused.append(name)

    def finish(self, slots: int) -> None:
        for _ in range(slots):
            self.queue.release()


def test_clients_get_slots_round_robin() -> None:
    line = Line(total=50, each=8)
    line.ask(*(f"a{number}" for number in range(5)), "b0", "b1", "c0")
    line.finish(8)
    assert line.served == ["a0", "a1", "b0", "c0", "a2", "b1", "a3", "a4"]


def test_one_client_has_few_waiting_calls() -> None:
    line = Line(total=50, each=8)
    line.ask(*(f"a{number}" for number in range(70)))
    assert line.refused == [f"a{number}" for number in range(9, 70)]
    line.ask("b0")
    line.finish(2)
    assert line.served == ["a0", "a1", "b0"]


def test_a_client_with_few_calls_replaces_one_with_many() -> None:
    line = Line(total=6, each=4)
    line.ask("x0", *(f"a{number}" for number in range(4)), "b0", "b1")
    line.ask("c0")
    assert line.refused == ["a3"]
    line.ask("c1")
    assert line.refused == ["a3", "a2"]
    line.ask("c2")
    assert line.refused == ["a3", "a2", "c2"]
    line.finish(7)
    assert line.served == ["x0", "a0", "b0", "c0", "a1", "b1", "c1"]


def test_a_cancelled_call_frees_its_place() -> None:
    line = Line(total=2, each=2)
    _, gone, _ = line.ask("a0", "a1", "b0")
    gone.cancel()
    line.ask("b1")
    line.finish(3)
    assert (line.served, line.refused) == (["a0", "b0", "b1"], ["a1"])


@pytest.mark.parametrize("at_once", [1, 3])
def test_free_slots_stay_available(at_once: int) -> None:
    queue = FairQueue(at_once, total=1, each=1)
    for _ in range(3):
        asked = [Deferred.fromCoroutine(queue.acquire("a")) for _ in range(at_once + 1)]
        assert [each.called for each in asked] == [True] * at_once + [False]
        for _ in asked:
            queue.release()
        assert all(each.called for each in asked)
