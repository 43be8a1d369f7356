"""The time of day, without its jumps."""

from __future__ import annotations

from collections.abc import Callable


def anchored(wall: Callable[[], float], monotonic: Callable[[], float]) -> Callable[[], float]:
    """Return a clock that reads `wall` once and goes on with `monotonic`, both in seconds.

    Setting the machine's clock then moves neither quota nor the end of keys; the next start takes the new time.
    """
    start = wall() - monotonic()

    def now() -> float:
        return start + monotonic()

    return now
