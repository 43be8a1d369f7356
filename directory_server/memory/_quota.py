"""The Quota in memory: a sliding log of the times of requests."""

from __future__ import annotations

import math
from collections.abc import Callable

from attrs import define

from ..domain.errors import QuotaExceeded
from ..domain.quota import Allowance


@define(eq=False)
class MemoryQuota:
    """Quota of keys. `spent` has the times of requests by key; adapters that share it act as processes.

    `now` is in seconds and must be the same clock for all adapters that share `spent`. `wall` is seconds since the
    epoch, and `window` in seconds.
    """

    _spent: dict[str, list[float]]
    _now: Callable[[], float]
    _wall: Callable[[], float]
    _window: int = 3600

    async def charge(self, key_id: str, limit: int | None) -> Allowance:
        allowance = await self.peek(key_id, limit)
        if limit is None:
            return allowance
        if allowance.remaining == 0:
            raise QuotaExceeded(allowance)
        self._spent.setdefault(key_id, []).append(self._now())
        return await self.peek(key_id, limit)

    async def peek(self, key_id: str, limit: int | None) -> Allowance:
        if limit is None:
            return Allowance(None, None, 0, self._window)
        now = self._now()
        times = [at for at in self._spent.get(key_id, ()) if at > now - self._window]
        if not times:
            return Allowance(limit, limit, 0, self._window)
        # After a lowered limit, the next request is possible when only `limit` - 1 are left in the window.
        first = times[max(len(times) - limit, 0)]
        return Allowance(limit, max(limit - len(times), 0), math.ceil(first - now + self._window), self._window)

    async def last(self, key_id: str) -> float | None:
        times = self._spent.get(key_id)
        return times[-1] - self._now() + self._wall() if times else None

    async def prune(self) -> None:
        end = self._now() - self._window
        for times in self._spent.values():
            # The last one stays for `last`.
            times[:-1] = [at for at in times[:-1] if at > end]
