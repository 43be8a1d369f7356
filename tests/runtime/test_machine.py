"""Anchored clock: system time at the start, monotonic time from then on."""

from __future__ import annotations

from directory_server.runtime.machine import anchored


def test_starts_at_the_system_time_and_advances_with_the_monotonic_clock() -> None:
    wall, monotonic = [1_000_000.0], [50.0]
    now = anchored(lambda: wall[0], lambda: monotonic[0])
    assert now() == 1_000_000.0
    monotonic[0] += 10
    assert now() == 1_000_010.0


def test_ignores_jumps_of_the_system_time() -> None:
    wall, monotonic = [1_000_000.0], [50.0]
    now = anchored(lambda: wall[0], lambda: monotonic[0])
    for jump in (86_400.0, -2 * 86_400.0):
        wall[0] += jump
        monotonic[0] += 1
    assert now() == 1_000_002.0
