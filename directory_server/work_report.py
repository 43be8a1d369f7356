"""Reports of work that takes long: stored, so that the pages of all processes show how far it is."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

from attrs import evolve
from twisted.internet.defer import Deferred

from .domain.errors import Unavailable
from .domain.work import Work
from .tables import StoredWork

INTERVAL = 2.0
"""Seconds between two reports."""

Report = Callable[[int, int], None]
"""Called with the items that are done, and their total, which is 0 if it is unknown."""


@asynccontextmanager
async def reported(stored: StoredWork, name: str, now: Callable[[], float]) -> AsyncIterator[Report]:
    """Report the work `name` while the context lasts. `now` returns seconds since the epoch.

    The work never waits for its report, and does not fail with it.
    """
    work, is_writing = Work(name, now(), now()), False

    async def put(changed: Work) -> None:
        nonlocal is_writing
        is_writing = True
        with suppress(Unavailable):
            await stored.put(changed)
        is_writing = False

    def report(done: int, total: int) -> None:
        nonlocal work
        if not is_writing and abs(now() - work.at) >= INTERVAL:
            work = evolve(work, at=now(), done=done, total=total)
            Deferred.fromCoroutine(put(work))

    try:
        yield report
    finally:
        await put(evolve(work, at=now(), has_ended=True))
