"""Settings of the process."""

from __future__ import annotations

import time

import pytest
from twisted.internet.task import Clock

from directory_server import machine, process


@pytest.mark.parametrize("name", ["MALLOC_ARENA_MAX", "GLIBC_TUNABLES"])
def test_the_operators_settings_of_the_allocator_stay(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ctypes.CDLL", lambda _: pytest.fail("the allocator was told"))
    assert not process.tune_allocator({name: "1"})


def test_the_allocator_is_told_all_parameters(monkeypatch: pytest.MonkeyPatch) -> None:
    told: dict[int, int] = {}

    class Library:
        @staticmethod
        def mallopt(parameter: int, value: int) -> int:
            told[parameter] = value
            return 1

    monkeypatch.setattr("ctypes.CDLL", lambda _: Library)
    assert process.tune_allocator({})
    assert told == process.MALLOC


def test_another_c_library_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ctypes.CDLL", lambda _: object())
    assert not process.tune_allocator({})


def test_timers_follow_the_monotonic_clock() -> None:
    reactor = Clock()
    reactor.rightNow = 1e9
    called: list[float] = []
    pending = reactor.callLater(5.0, called.append, 0.0)
    machine.use_monotonic_timers(reactor)
    assert reactor.seconds is time.monotonic
    assert 4 < pending.getTime() - time.monotonic() <= 5
