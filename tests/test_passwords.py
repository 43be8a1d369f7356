"""Password hashes: parameters and concurrency; the fair queue: order of the clients, limits and cancellation."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from argon2 import PasswordHasher, extract_parameters
from argon2.low_level import Type
from twisted.internet.defer import CancelledError, Deferred

from directory_server.domain.errors import Unavailable
from directory_server.passwords import SECOND_RECOMMENDED, Argon2Passwords, FairQueue
from directory_server.run_sync import inline, run_sync

from .contract.passwords import PasswordsContract

QUICK = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


class ManualOffload:
    """An Offload that runs the submitted functions one by one, when `finish` is called."""

    def __init__(self) -> None:
        self.pending: list[tuple[Deferred[Any], Callable[[], Any]]] = []

    def __call__(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Awaitable[Any]:
        result: Deferred[Any] = Deferred()
        self.pending.append((result, lambda: function(*args, **kwargs)))
        return result

    def finish(self) -> None:
        result, function = self.pending.pop(0)
        result.callback(function())


def verify(passwords: Argon2Passwords, password: str = "secret", client: str = "") -> Deferred[bool]:
    return Deferred.fromCoroutine(passwords.verify(None, password, client=client))


class TestArgon2Passwords(PasswordsContract):
    async def passwords(self) -> Argon2Passwords:
        return Argon2Passwords(inline, QUICK)


def test_missing_hash_costs_the_same_work(monkeypatch: pytest.MonkeyPatch) -> None:
    verified: list[str] = []

    class Counting(PasswordHasher):
        def verify(self, hash: str | bytes, password: str | bytes) -> Any:
            verified.append(str(hash))
            return super().verify(hash, password)

    passwords = Argon2Passwords(inline, Counting(time_cost=1, memory_cost=8, parallelism=1))
    hashed = run_sync(passwords.hash("correct horse"))
    assert not run_sync(passwords.verify(hashed, "wrong"))
    assert not run_sync(passwords.verify(None, "wrong"))
    real, missing = map(extract_parameters, verified)
    assert real == missing


def test_parameters_are_those_of_rfc_9106() -> None:
    parameters = extract_parameters(SECOND_RECOMMENDED.hash("x"))
    assert parameters.type is Type.ID
    assert (parameters.time_cost, parameters.memory_cost, parameters.parallelism) == (3, 65_536, 4)
    assert (parameters.salt_len, parameters.hash_len) == (16, 32)


def test_at_most_two_hashes_are_computed_at_once() -> None:
    offload = ManualOffload()
    passwords = Argon2Passwords(offload, QUICK)
    calls = [verify(passwords) for _ in range(4)]
    assert len(offload.pending) == 2
    offload.finish()
    assert len(offload.pending) == 2
    for _ in range(3):
        offload.finish()
    assert [each.result for each in calls] == [False] * 4


def test_cancelled_calls_occupy_their_slots_until_they_finish() -> None:
    offload = ManualOffload()
    passwords = Argon2Passwords(offload, QUICK)
    cancelled = [verify(passwords) for _ in range(2)]
    for each in cancelled:
        each.cancel()
        each.addErrback(lambda failure: failure.trap(CancelledError))
    waiting = verify(passwords)
    assert len(offload.pending) == 2
    offload.finish()
    assert len(offload.pending) == 2
    offload.finish()
    offload.finish()
    assert waiting.result is False


def test_cancelled_waiting_call_leaves_its_place_to_the_next() -> None:
    offload = ManualOffload()
    passwords = Argon2Passwords(offload, QUICK)
    first = [verify(passwords) for _ in range(2)]
    cancelled, last = verify(passwords), verify(passwords)
    cancelled.cancel()
    cancelled.addErrback(lambda failure: failure.trap(CancelledError))
    for _ in range(3):
        offload.finish()
    assert [each.result for each in (*first, last)] == [False] * 3
    assert offload.pending == []


def test_many_calls_of_one_client_do_not_delay_another() -> None:
    offload = ManualOffload()
    passwords = Argon2Passwords(offload, QUICK)
    flood = [verify(passwords, client="192.0.2.0/24") for _ in range(70)]
    rejected = [each for each in flood if each.called]
    for each in rejected:
        each.addErrback(lambda failure: failure.trap(Unavailable))
    assert [each.result for each in rejected] == [Unavailable] * 60
    another = verify(passwords, client="198.51.100.0/24")
    # Two running calls and the next of the flood finish first; then it is the other client's turn.
    for _ in range(4):
        assert not another.called
        offload.finish()
    assert another.result is False
    for _ in range(7):
        offload.finish()
    assert offload.pending == []


def test_call_is_rejected_if_too_many_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("directory_server.passwords.WAITING", 3)
    offload = ManualOffload()
    passwords = Argon2Passwords(offload, QUICK)
    calls = [verify(passwords) for _ in range(5)]
    rejected = verify(passwords)
    rejected.addErrback(lambda failure: failure.trap(Unavailable))
    assert rejected.result is Unavailable
    for _ in range(5):
        offload.finish()
    assert [each.result for each in calls] == [False] * 5


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
