from __future__ import annotations

from directory_server.sqlite import anchored


def test_begins_at_the_wall_and_goes_on_with_the_monotonic_clock() -> None:
    wall, monotonic = [1_000_000.0], [50.0]
    now = anchored(lambda: wall[0], lambda: monotonic[0])
    assert now() == 1_000_000.0
    monotonic[0] += 10
    assert now() == 1_000_010.0


def test_does_not_follow_the_wall_when_it_jumps() -> None:
    wall, monotonic = [1_000_000.0], [50.0]
    now = anchored(lambda: wall[0], lambda: monotonic[0])
    for jump in (86_400.0, -2 * 86_400.0):
        wall[0] += jump
        monotonic[0] += 1
    assert now() == 1_000_002.0
