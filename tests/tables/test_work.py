"""Work that takes long, on both databases, and its reports."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from attrs import evolve

from directory_server.domain.errors import Unavailable
from directory_server.domain.work import STALE, Work
from directory_server.services.work_report import INTERVAL, reported
from directory_server.tables import StoredWork

from ..contract import ContractWithClock, awaited
from .conftest import TablesTest

IMPORT = Work("import", 1_010.0, 0.0, 10.0, 5, 20, has_ended=False)


class TestWork(TablesTest, ContractWithClock):
    @awaited
    async def test_its_times_are_by_the_clock_of_the_storage(self) -> None:
        work, now = StoredWork(self.open_tables(), self.clock.seconds), self.clock.seconds()
        await work.put("import", seconds=10, done=5, total=20)
        self.clock.advance(3)
        assert await work.all() == {"import": evolve(IMPORT, at=now, age=3.0)}
        await work.put("import", seconds=13, done=20, total=20, has_ended=True)
        assert await work.all() == {"import": Work("import", now + 3, 0.0, 13.0, 20, 20, has_ended=True)}
        by_database = StoredWork(self.open_tables())
        await by_database.put("backup", seconds=0, done=0, total=0)
        assert (await by_database.all())["backup"].age < STALE

    @awaited
    async def test_reports_are_stored_from_time_to_time(self) -> None:
        work = StoredWork(self.open_tables(), self.clock.seconds)
        with suppress(ZeroDivisionError):
            async with reported(work, "import", self.clock.seconds) as report:
                report(1, 10)
                assert await work.all() == {}
                self.clock.advance(INTERVAL)
                for done in (2, 3):
                    report(done, 10)
                (stored,) = (await work.all()).values()
                assert (stored.seconds, stored.done, stored.total, stored.has_ended) == (INTERVAL, 2, 10, False)
                raise ZeroDivisionError
        assert (await work.all())["import"].has_ended

    @awaited
    async def test_short_work_is_stored_only_if_asked_for(self) -> None:
        work = StoredWork(self.open_tables(), self.clock.seconds)
        for name, always in (("import", False), ("backup", True)):
            async with reported(work, name, self.clock.seconds, always=always) as report:
                report(1, 1)
        assert list(await work.all()) == ["backup"]


@awaited
async def test_work_does_not_fail_with_its_report() -> None:
    class Broken:
        async def put(self, *_: object, **__: Any) -> None:
            raise Unavailable("The disk is full.")

    times = iter(range(0, 1_000, 10))
    async with reported(Broken(), "import", lambda: next(times)) as report:  # type: ignore[arg-type]
        report(1, 10)
        report(2, 10)


def test_work_without_news_has_died() -> None:
    assert evolve(IMPORT, age=STALE - 1).is_active
    assert not evolve(IMPORT, age=STALE).is_active
    # A clock that was wrong.
    assert not evolve(IMPORT, age=-STALE).is_active
    assert not evolve(IMPORT, has_ended=True).is_active


@pytest.mark.parametrize(
    ("done", "total", "remaining"), [(5, 20, 30.0), (0, 20, None), (30, 20, None), (20, 20, 0.0), (5, 0, None)]
)
def test_the_remaining_time_is_that_of_the_speed_so_far(done: int, total: int, remaining: float | None) -> None:
    assert evolve(IMPORT, done=done, total=total).remaining == remaining
