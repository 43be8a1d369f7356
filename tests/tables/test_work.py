"""Work that takes long, on both databases, and its reports."""

from __future__ import annotations

from contextlib import suppress

import pytest
from attrs import evolve

from directory_server.domain.errors import Unavailable
from directory_server.domain.work import STALE, Work
from directory_server.tables import StoredWork
from directory_server.work_report import INTERVAL, reported

from ..contract import ContractWithClock, awaited
from .conftest import TablesTest

IMPORT = Work("import", 1_000.0, 1_010.0, 5, 20)


class TestWork(TablesTest, ContractWithClock):
    @awaited
    async def test_a_late_write_does_not_begin_it_again(self) -> None:
        work, other = StoredWork(self.open_tables()), StoredWork(self.open_tables())
        await work.put(IMPORT)
        assert await other.all() == {"import": IMPORT}
        ended = evolve(IMPORT, has_ended=True)
        await other.put(ended)
        await work.put(evolve(IMPORT, done=6))
        assert await work.all() == {"import": ended}
        again = Work("import", 2_000.0, 2_000.0)
        await work.put(again)
        assert await other.all() == {"import": again}

    @awaited
    async def test_reports_are_stored_from_time_to_time(self) -> None:
        work = StoredWork(self.open_tables())
        start = self.clock.seconds()
        with suppress(ZeroDivisionError):
            async with reported(work, "import", self.clock.seconds) as report:
                report(1, 10)
                assert await work.all() == {}
                self.clock.advance(INTERVAL)
                for done in (2, 3):
                    report(done, 10)
                assert await work.all() == {"import": Work("import", start, start + INTERVAL, 2, 10)}
                raise ZeroDivisionError
        assert (await work.all())["import"].has_ended


@awaited
async def test_work_does_not_fail_with_its_report() -> None:
    class Broken:
        async def put(self, work: Work) -> None:
            raise Unavailable("The disk is full.")

    times = iter(range(0, 1_000, 10))
    async with reported(Broken(), "import", lambda: next(times)) as report:  # type: ignore[arg-type]
        report(1, 10)
        report(2, 10)


def test_work_without_news_has_died() -> None:
    assert IMPORT.is_active(1_010.0 + STALE - 1)
    assert not IMPORT.is_active(1_010.0 + STALE)
    # A clock that was wrong.
    assert not IMPORT.is_active(0.0)
    assert not evolve(IMPORT, has_ended=True).is_active(1_010.0)


@pytest.mark.parametrize(
    ("done", "total", "remaining"), [(5, 20, 30.0), (0, 20, None), (30, 20, None), (20, 20, 0.0), (5, 0, None)]
)
def test_the_remaining_time_is_that_of_the_speed_so_far(done: int, total: int, remaining: float | None) -> None:
    assert evolve(IMPORT, done=done, total=total).remaining == remaining
