"""The Attempts of one process, in its memory."""

from __future__ import annotations

from collections.abc import Callable

from ..domain.throttling import AttemptLimit, Limiter


class ProcessAttempts:
    """Attempts of this process; `now` is in seconds. A restart forgets them."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._limiters: dict[AttemptLimit, Limiter] = {}

    async def charge(self, limit: AttemptLimit, client: str) -> None:
        limiter = self._limiters.get(limit)
        if limiter is None:
            limiter = self._limiters[limit] = Limiter(self._now, rate=limit.rate, burst=limit.burst)
        limiter.charge(client)
