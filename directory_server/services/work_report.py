"""Reports of work that takes long: stored, so that the pages of all processes show how far it is."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

from twisted.internet.defer import Deferred

from ..domain.errors import Unavailable
from ..tables import StoredWork

INTERVAL = 2.0
"""Seconds between two reports."""

Report = Callable[[int, int], None]
"""Called with the items that are done, and their total, which is 0 if it is unknown."""


@asynccontextmanager
async def reported(
    stored: StoredWork, name: str, clock: Callable[[], float], *, always: bool = False
) -> AsyncIterator[Report]:
    """Report the work `name` while the context lasts. `clock` returns seconds.

    The work never waits for a report, and does not fail with it. Short work is stored only if `always`, at its end: not
    if it fails, which would look like success.
    """
    start = last = clock()
    done = total = 0
    writing: Deferred[None] | None = None

    async def put(*, has_ended: bool) -> None:
        with suppress(Unavailable):
            await stored.put(name, seconds=max(0.0, clock() - start), done=done, total=total, has_ended=has_ended)

    def report(so_far: int, of: int) -> None:
        nonlocal done, total, last, writing
        done, total = so_far, of
        if abs(clock() - last) >= INTERVAL and (writing is None or writing.called):
            last = clock()
            writing = Deferred.fromCoroutine(put(has_ended=False))

    try:
        yield report
        if always and writing is None:
            await put(has_ended=True)
    finally:
        if writing is not None:
            await writing
            await put(has_ended=True)
