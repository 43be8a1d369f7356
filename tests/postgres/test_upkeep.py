"""Periodic tasks: one of all processes runs each, once in its interval."""

from __future__ import annotations

from directory_server.domain.errors import Unavailable
from directory_server.postgres import Database, Task, run_due
from directory_server.runtime.run_sync import run_sync

from ..sqlite.conftest import run_concurrently
from .conftest import Open


class Process:
    """A process with two tasks: `ran` has the names of those that it ran."""

    def __init__(self, database: Database) -> None:
        self.ran: list[str] = []
        self._database = database
        self._tasks = [Task("hourly", 3600.0, self._hourly), Task("minutely", 60.0, self._minutely)]

    async def _hourly(self) -> None:
        self.ran.append("hourly")

    async def _minutely(self) -> None:
        self.ran.append("minutely")
        raise Unavailable("Away.")

    def run(self) -> list[str]:
        """Run what is due; return the names."""
        self.ran.clear()
        run_sync(run_due(self._database, self._tasks))
        return [*self.ran]


def pass_time(database: Database, seconds: float) -> None:
    """Make all tasks due `seconds` earlier."""
    run_sync(database.run("UPDATE task SET due = due - $1::float8", seconds))


def test_each_task_runs_in_one_process_once_in_its_interval(database: Database, open_database: Open) -> None:
    one, other = Process(database), Process(open_database())
    assert one.run() == ["hourly", "minutely"]
    assert other.run() == one.run() == []
    pass_time(database, 60.0)
    assert other.run() == ["minutely"]
    assert one.run() == []
    pass_time(database, 3540.0)
    assert one.run() == ["hourly", "minutely"]
    assert other.run() == []


def test_of_processes_that_look_at_the_same_time_one_runs_a_task(open_database: Open) -> None:
    processes = [Process(open_database()) for _ in range(6)]

    def look(number: int) -> None:
        processes[number].run()

    run_concurrently(look, 6)
    assert sorted(name for each in processes for name in each.ran) == ["hourly", "minutely"]


def test_a_clock_that_was_set_back_delays_no_task(database: Database) -> None:
    process = Process(database)
    process.run()
    pass_time(database, -86_400.0)
    assert process.run() == ["hourly", "minutely"]


def test_without_the_database_nothing_runs(database: Database) -> None:
    process = Process(database)
    database.close()
    assert process.run() == []
