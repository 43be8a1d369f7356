"""Numbers of requests and searches on both databases."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from directory_server.domain.errors import Unavailable
from directory_server.features.statistics.rules import MAX_TEXTS, Count, QueryCount, Total
from directory_server.features.statistics.tables import Statistics
from directory_server.postgres import Database, PostgresTables
from directory_server.runtime.run_sync import run_sync
from directory_server.sqlite import SeparateTables

from ... import engines
from ...contract import awaited


class TestStatistics:
    @pytest.fixture(autouse=True, params=["sqlite", "postgres"])
    def _engine(self, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[None]:
        self.folder = tmp_path
        self.engine: engines.Engine | None = None
        if request.param == "postgres":
            self.engine = request.getfixturevalue("migrated_engine")
            self.engine.empty()
        self.opened: list[SeparateTables | Database] = []
        yield
        for opened in self.opened:
            opened.close()

    def statistics(self) -> Statistics:
        if self.engine is None:
            separate = SeparateTables(self.folder, "statistics")
            self.opened.append(separate)
            return Statistics(separate)
        database = Database(self.engine.conninfo)
        self.opened.append(database)
        return Statistics(PostgresTables(database))

    @awaited
    async def test_adds_the_numbers_of_all_processes(self) -> None:
        one, other = self.statistics(), self.statistics()
        await one.add([])
        assert list(await one.counts(0, 99_999)) == []
        await one.add([Count(20_000, "requests", "/a", 3, 1), Count(20_000, "searches", "REST", 2, 2)])
        await other.add([Count(20_000, "requests", "/a", 4, 0), Count(20_001, "requests", "/", 1, 0)])
        assert list(await one.counts(20_000, 20_001)) == [
            Count(20_000, "requests", "/a", 7, 1),
            Count(20_000, "searches", "REST", 2, 2),
            Count(20_001, "requests", "/", 1, 0),
        ]
        assert [each.day for each in await other.counts(20_001, 20_001)] == [20_001]

    @awaited
    async def test_reads_one_kind_of_names(self) -> None:
        statistics = self.statistics()
        entries = [Count(20_000, "entries", name, total, 0) for name, total in (("a", 1), ("b", 5), ("c", 3))]
        later = Count(20_001, "entries", "a", 9, 2)
        await statistics.add([*entries, later, Count(20_001, "keys", "a", 70, 0)])
        both = await statistics.totals("entries", 20_000, 20_001, limit=2)
        assert list(both) == [Total("a", 10, 2), Total("b", 5, 0)]
        assert list(await statistics.totals("entries", 20_000, 20_000, limit=1)) == [Total("b", 5, 0)]
        assert list(await statistics.of_names("entries", ["a", "x"], 20_000, 20_001)) == [entries[0], later]
        assert list(await statistics.counts(20_000, 20_001)) == []

    @awaited
    async def test_orders_texts_by_their_searches(self) -> None:
        statistics = self.statistics()
        await statistics.add([], [QueryCount(20_000, "mail", 5, 0), QueryCount(20_000, "zebra", 7, 7)])
        await statistics.add([], [QueryCount(20_001, "mail", 6, 1), QueryCount(20_001, "数据库", 6, 0)])
        assert list(await statistics.queries(20_000, limit=9)) == [
            Total("mail", 11, 1),
            Total("zebra", 7, 7),
            Total("数据库", 6, 0),
        ]
        assert [each.name for each in await statistics.queries(20_000, failed=True, limit=9)] == ["zebra", "mail"]
        assert [each.name for each in await statistics.queries(20_000, limit=1)] == ["mail"]
        assert [each.name for each in await statistics.queries(20_001, limit=9)] == ["mail", "数据库"]

    @awaited
    async def test_bounds_the_texts_of_a_day(self) -> None:
        statistics = self.statistics()
        await statistics.add([], [QueryCount(20_000, f"text {number}", 5, 0) for number in range(MAX_TEXTS)])
        await statistics.add([], [QueryCount(20_000, "one more", 9, 0), QueryCount(20_000, "text 0", 1, 0)])
        await statistics.add([], [QueryCount(20_001, "tomorrow", 5, 0)])
        found = {each.name: each.total for each in await statistics.queries(0, limit=9_999)}
        assert len(found) == MAX_TEXTS + 1
        assert (found["text 0"], found["tomorrow"], "one more" in found) == (6, 5, False)

    @awaited
    async def test_forgets_old_days(self) -> None:
        statistics = self.statistics()
        for day in range(20_000, 20_004):
            await statistics.add([Count(day, "requests", "/", 1, 0)], [QueryCount(day, "mail", 5, 0)])
        await statistics.forget(20_001, 20_003)
        assert [each.day for each in await statistics.counts(0, 99_999)] == [20_001, 20_002, 20_003]
        assert list(await statistics.queries(0, limit=9)) == [Total("mail", 5, 0)]
        await statistics.forget(20_004, 20_004)
        assert list(await statistics.counts(0, 99_999)) == []
        assert list(await statistics.queries(0, limit=9)) == []


def test_the_file_is_created_at_the_first_use(tmp_path: Path) -> None:
    separate = SeparateTables(tmp_path, "statistics")
    statistics = Statistics(separate)
    assert list(tmp_path.iterdir()) == []
    run_sync(statistics.add([Count(1, "requests", "/", 1, 0)]))
    assert (tmp_path / "statistics.db").stat().st_mode & 0o777 == 0o600
    separate.close()
    with pytest.raises(Unavailable, match="closed"):
        run_sync(statistics.counts(0, 9))


def test_a_damaged_file_is_reported(tmp_path: Path) -> None:
    (tmp_path / "statistics.db").write_bytes(b"not a database" * 1000)
    with pytest.raises(Unavailable):
        run_sync(Statistics(SeparateTables(tmp_path, "statistics")).counts(0, 9))
