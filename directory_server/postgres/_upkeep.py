"""Periodic tasks on the database, such as deleting what no longer counts: one process performs each when it is due."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from attrs import frozen
from twisted.logger import Logger

from ..domain.errors import Unavailable
from ._connection import NOW
from ._database import Database

UPKEEP_INTERVAL = 60.0
"""Seconds after which a process looks for tasks that are due."""

# A time that is too far ahead was written before the clock of the database was set back.
_CLAIM = f"""
    INSERT INTO task (name, due) VALUES ($1::text, {NOW} + $2::float8)
    ON CONFLICT (name) DO UPDATE SET due = excluded.due
        WHERE task.due <= {NOW} OR task.due > {NOW} + $2::float8
    RETURNING true
"""


@frozen
class Task:
    """A task that one of all processes performs every `interval` seconds. A failed run is not repeated before."""

    name: str
    interval: float
    run: Callable[[], Awaitable[None]]


@frozen
class Upkeep:
    """The tasks of all processes."""

    _database: Database
    _tasks: Sequence[Task]

    _log = Logger()

    async def run_due(self) -> None:
        """Run the tasks that are due and that no other process has begun. Nothing runs without the database."""
        for task in self._tasks:
            try:
                if await self._database.run(_CLAIM, task.name, task.interval):
                    await task.run()
            except Unavailable as error:
                self._log.debug("The task {name} could not be run: {reason}", name=task.name, reason=error.message)
