"""Contract of Statistics."""

from __future__ import annotations

from directory_server.features.statistics.rules import MAX_TEXTS, Count, QueryCount, Total
from directory_server.features.statistics.tables import Statistics

from ...contract import awaited


class StatisticsContract:
    """Subclasses define how to open the adapter."""

    async def statistics(self) -> Statistics:
        """Return the adapter; each call acts as another process with the same data."""
        raise NotImplementedError

    @awaited
    async def test_adds_the_numbers_of_all_processes(self) -> None:
        one, other = await self.statistics(), await self.statistics()
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
        statistics = await self.statistics()
        entries = [Count(20_000, "entries", name, total, 0) for name, total in (("a", 1), ("b", 5), ("c", 3))]
        later = Count(20_001, "entries", "a", 9, 2)
        await statistics.add([*entries, later, Count(20_001, "keys", "a", 70, 0)])
        both = await statistics.totals("entries", 20_000, 20_001, limit=2)
        assert list(both) == [Total("a", 10, 2), Total("b", 5, 0)]
        assert list(await statistics.totals("entries", 20_000, 20_000, limit=1)) == [Total("b", 5, 0)]
        assert list(await statistics.of_names("entries", ["a", "x"], 20_000, 20_001)) == [entries[0], later]
        assert list(await statistics.counts(20_000, 20_001)) == []

    @awaited
    async def test_adds_nothing(self) -> None:
        statistics = await self.statistics()
        await statistics.add([])
        assert list(await statistics.counts(0, 99_999)) == []

    @awaited
    async def test_orders_texts_by_their_searches(self) -> None:
        statistics = await self.statistics()
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
        statistics = await self.statistics()
        await statistics.add([], [QueryCount(20_000, f"text {number}", 5, 0) for number in range(MAX_TEXTS)])
        await statistics.add([], [QueryCount(20_000, "one more", 9, 0), QueryCount(20_000, "text 0", 1, 0)])
        await statistics.add([], [QueryCount(20_001, "tomorrow", 5, 0)])
        found = {each.name: each.total for each in await statistics.queries(0, limit=9_999)}
        assert len(found) == MAX_TEXTS + 1
        assert (found["text 0"], found["tomorrow"], "one more" in found) == (6, 5, False)

    @awaited
    async def test_forgets_old_days(self) -> None:
        statistics = await self.statistics()
        for day in range(20_000, 20_004):
            await statistics.add([Count(day, "requests", "/", 1, 0)], [QueryCount(day, "mail", 5, 0)])
        await statistics.forget(20_001, 20_003)
        assert [each.day for each in await statistics.counts(0, 99_999)] == [20_001, 20_002, 20_003]
        assert list(await statistics.queries(0, limit=9)) == [Total("mail", 5, 0)]
        await statistics.forget(20_004, 20_004)
        assert list(await statistics.counts(0, 99_999)) == []
        assert list(await statistics.queries(0, limit=9)) == []
