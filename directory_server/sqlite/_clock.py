"""The system time without jumps."""

from __future__ import annotations

from collections.abc import Callable


def anchored(wall: Callable[[], float], monotonic: Callable[[], float]) -> Callable[[], float]:
    """Return a clock that reads `wall` once and continues with `monotonic`, both in seconds.

    A change of the system time then affects neither quota nor expiry; the next start uses the new time.
    """
    start = wall() - monotonic()

    def now() -> float:
        return start + monotonic()

    return now
