"""Password hashes: parameters and concurrency; the fair queue: order of the clients, limits and cancellation."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from argon2 import PasswordHasher, extract_parameters
from argon2.low_level import Type
from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.task import Clock

from directory_server.domain.errors import Unavailable
from directory_server.runtime.run_sync import inline, run_sync
from directory_server.services.passwords import SECOND_RECOMMENDED, Argon2Passwords

from ..contract import awaited

QUICK = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


class ManualOffload:
    """An Offload that runs the submitted functions one by one, when `finish` is called."""

    def __init__(self) -> None:
        self.pending: list[tuple[Deferred[Any], Callable[[], Any]]] = []
        self.clock = Clock()

    def __call__(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Awaitable[Any]:
        result: Deferred[Any] = Deferred()
        self.pending.append((result, lambda: function(*args, **kwargs)))
        return result

    def finish(self) -> None:
        result, function = self.pending.pop(0)
        result.callback(function())
        self.clock.advance(0)


def verify(passwords: Argon2Passwords, password: str = "secret", client: str = "") -> Deferred[bool]:
    return Deferred.fromCoroutine(passwords.verify(None, password, client=client))


@pytest.fixture
def passwords() -> Argon2Passwords:
    return Argon2Passwords(inline, Clock(), str, QUICK)


@awaited
async def test_verifies_what_it_hashed_and_nothing_else(passwords: Argon2Passwords) -> None:
    hashed = await passwords.hash("correct horse", client="192.0.2.0/24")
    assert "correct" not in hashed
    assert await passwords.verify(hashed, "correct horse", client="198.51.100.0/24")
    assert await passwords.verify(hashed, "correct horse")
    for wrong in ("", "Correct horse", "correct horse ", hashed):
        assert not await passwords.verify(hashed, wrong)


@awaited
async def test_hashes_are_salted(passwords: Argon2Passwords) -> None:
    hashes = [await passwords.hash("correct horse") for _ in range(3)]
    assert len(set(hashes)) == 3
    assert all([await passwords.verify(each, "correct horse") for each in hashes])


@awaited
async def test_no_password_matches_a_missing_hash(passwords: Argon2Passwords) -> None:
    for wrong in ("", "correct horse", "None"):
        assert not await passwords.verify(None, wrong)
        assert not await passwords.verify("not a hash", wrong)


def test_missing_hash_costs_the_same_work(monkeypatch: pytest.MonkeyPatch) -> None:
    verified: list[str] = []

    class Counting(PasswordHasher):
        def verify(self, hash: str | bytes, password: str | bytes) -> Any:
            verified.append(str(hash))
            return super().verify(hash, password)

    passwords = Argon2Passwords(inline, Clock(), str, Counting(time_cost=1, memory_cost=8, parallelism=1))
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
    passwords = Argon2Passwords(offload, offload.clock, str, QUICK)
    calls = [verify(passwords) for _ in range(4)]
    assert len(offload.pending) == 2
    offload.finish()
    assert len(offload.pending) == 2
    for _ in range(3):
        offload.finish()
    assert [each.result for each in calls] == [False] * 4


def test_cancelled_calls_occupy_their_slots_until_they_finish() -> None:
    offload = ManualOffload()
    passwords = Argon2Passwords(offload, offload.clock, str, QUICK)
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


def test_many_calls_of_one_client_do_not_delay_another() -> None:
    offload = ManualOffload()
    passwords = Argon2Passwords(offload, offload.clock, str, QUICK)
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


def test_the_error_says_when_to_try_again() -> None:
    passwords = Argon2Passwords(ManualOffload(), clock := Clock(), str, QUICK)
    waiting = [verify(passwords) for _ in range(3)][-1]
    errors: list[Any] = []
    waiting.addErrback(errors.append)
    clock.advance(5)
    assert (errors[0].type, errors[0].value.retry_after) == (Unavailable, 5)


def test_networks_of_one_provider_are_a_group() -> None:
    from directory_server.composition._core import _provider_of

    assert _provider_of("2001:db8:1::/48") == _provider_of("2001:db8:ffff::/48") == "2001:db8::/32"
    assert _provider_of("192.0.2.0/24") == "192.0.2.0/24"
    assert _provider_of("") == ""
