"""Leases of work that one process does at a time."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from contextlib import suppress
from functools import partial
from secrets import token_hex
from typing import Any

from attrs import field, frozen
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorTime

from .domain.errors import Unavailable
from .domain.ports.storage import Mirrors
from .timers import Timer


@frozen
class Lease:
    """The lease `name`, for `seconds` unless it is renewed. `holder` identifies the process."""

    _leases: Mirrors
    name: str
    _seconds: float
    _holder: str = field(factory=partial(token_hex, 8))

    async def hold(self) -> bool:
        """Acquire or renew the lease; return False if another process has it. Raises Unavailable."""
        return await self._leases.hold(self.name, self._holder, seconds=self._seconds)

    async def release(self) -> None:
        """Release the lease, so that another process continues at once."""
        # It ends by itself.
        with suppress(Unavailable):
            await self._leases.release(self.name, self._holder)


class LeasedTimer(Timer):
    """A timer whose `function` holds `lease`, which is released at the end."""

    def __init__(
        self,
        interval: float,
        function: Callable[[], Coroutine[Deferred[Any], Any, None]],
        clock: IReactorTime,
        lease: Lease,
    ) -> None:
        super().__init__(interval, function, clock, finish=lease.release)
        self.name = lease.name
