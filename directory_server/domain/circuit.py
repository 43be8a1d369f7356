"""Circuit breaker: leaves an endpoint alone that fails."""

from __future__ import annotations

FAILURES = 5
"""Failures in a row, after which the endpoint is left alone."""

SHORTEST, LONGEST = 10.0, 300.0
"""Seconds for which it is left alone at first, and at most. The time doubles at each further failure."""


class Circuit:
    """Whether an endpoint may be asked. `now` is in seconds and never goes back.

    It is left alone after `limit` failures in a row.
    """

    def __init__(self, limit: int = FAILURES) -> None:
        self._limit = limit
        self._failures = 0
        self._pause = SHORTEST
        self._until = 0.0

    @property
    def is_paused(self) -> bool:
        """Whether the last request of the endpoint failed, and others before it."""
        return self._failures >= self._limit

    def allows(self, now: float) -> bool:
        """Return whether a request may be sent; after a pause, only one until it has succeeded or failed."""
        if self._failures < self._limit:
            return True
        if now < self._until:
            return False
        self._until = now + self._pause
        return True

    def succeed(self) -> bool:
        """Count a request that succeeded; return whether it ends a pause."""
        ends_pause = self._failures >= self._limit
        self._failures, self._pause = 0, SHORTEST
        return ends_pause

    def fail(self, now: float) -> bool:
        """Count a request that failed or took too long; return whether a pause begins."""
        self._failures += 1
        if self._failures < self._limit:
            return False
        if self._failures > self._limit:
            self._pause = min(2 * self._pause, LONGEST)
        self._until = now + self._pause
        return True
