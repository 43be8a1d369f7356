from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from argon2 import PasswordHasher, extract_parameters
from argon2.low_level import Type
from twisted.internet.defer import CancelledError, Deferred

from directory_server.domain.errors import Unavailable
from directory_server.passwords import SECOND_RECOMMENDED, Argon2Passwords
from directory_server.run_sync import inline, run_sync

from .contract.passwords import PasswordsContract

QUICK = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


class Later:
    """An Offload that runs what it is given when it is told to."""

    def __init__(self) -> None:
        self.under_way: list[tuple[Deferred[Any], Callable[[], Any]]] = []

    def __call__(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Awaitable[Any]:
        result: Deferred[Any] = Deferred()
        self.under_way.append((result, lambda: function(*args, **kwargs)))
        return result

    def finish(self) -> None:
        result, function = self.under_way.pop(0)
        result.callback(function())


def verify(passwords: Argon2Passwords, password: str = "secret", client: str = "") -> Deferred[bool]:
    return Deferred.fromCoroutine(passwords.verify(None, password, client=client))


class TestArgon2Passwords(PasswordsContract):
    async def passwords(self) -> Argon2Passwords:
        return Argon2Passwords(inline, QUICK)


def test_a_missing_hash_takes_as_long(monkeypatch: pytest.MonkeyPatch) -> None:
    verified: list[str] = []

    class Counting(PasswordHasher):
        def verify(self, hash: str | bytes, password: str | bytes) -> Any:
            verified.append(str(hash))
            return super().verify(hash, password)

    passwords = Argon2Passwords(inline, Counting(time_cost=1, memory_cost=8, parallelism=1))
    hashed = run_sync(passwords.hash("correct horse"))
    assert not run_sync(passwords.verify(hashed, "wrong"))
    assert not run_sync(passwords.verify(None, "wrong"))
    real, nobodys = map(extract_parameters, verified)
    assert real == nobodys


def test_is_what_rfc_9106_recommends() -> None:
    parameters = extract_parameters(SECOND_RECOMMENDED.hash("x"))
    assert parameters.type is Type.ID
    assert (parameters.time_cost, parameters.memory_cost, parameters.parallelism) == (3, 65_536, 4)
    assert (parameters.salt_len, parameters.hash_len) == (16, 32)


def test_computes_two_at_a_time() -> None:
    later = Later()
    passwords = Argon2Passwords(later, QUICK)
    asked = [verify(passwords) for _ in range(4)]
    assert len(later.under_way) == 2
    later.finish()
    assert len(later.under_way) == 2
    for _ in range(3):
        later.finish()
    assert [each.result for each in asked] == [False] * 4


def test_goes_on_counting_those_who_left() -> None:
    later = Later()
    passwords = Argon2Passwords(later, QUICK)
    gone = [verify(passwords) for _ in range(2)]
    for each in gone:
        each.cancel()
        each.addErrback(lambda failure: failure.trap(CancelledError))
    waiting = verify(passwords)
    assert len(later.under_way) == 2
    later.finish()
    assert len(later.under_way) == 2
    later.finish()
    later.finish()
    assert waiting.result is False


def test_a_cancelled_call_leaves_its_slot_to_the_next() -> None:
    later = Later()
    passwords = Argon2Passwords(later, QUICK)
    first = [verify(passwords) for _ in range(2)]
    gone, last = verify(passwords), verify(passwords)
    gone.cancel()
    gone.addErrback(lambda failure: failure.trap(CancelledError))
    for _ in range(3):
        later.finish()
    assert [each.result for each in (*first, last)] == [False] * 3
    assert later.under_way == []


def test_many_forms_of_one_client_do_not_hold_up_another() -> None:
    later = Later()
    passwords = Argon2Passwords(later, QUICK)
    flood = [verify(passwords, client="192.0.2.0/24") for _ in range(70)]
    refused = [each for each in flood if each.called]
    for each in refused:
        each.addErrback(lambda failure: failure.trap(Unavailable))
    assert [each.result for each in refused] == [Unavailable] * 60
    another = verify(passwords, client="198.51.100.0/24")
    # The two that are under way, the flood's next, and then its turn.
    for _ in range(4):
        assert not another.called
        later.finish()
    assert another.result is False
    for _ in range(7):
        later.finish()
    assert later.under_way == []


def test_raises_unavailable_if_too_many_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("directory_server.passwords.WAITING", 3)
    later = Later()
    passwords = Argon2Passwords(later, QUICK)
    asked = [verify(passwords) for _ in range(5)]
    refused = verify(passwords)
    refused.addErrback(lambda failure: failure.trap(Unavailable))
    assert refused.result is Unavailable
    for _ in range(5):
        later.finish()
    assert [each.result for each in asked] == [False] * 5
