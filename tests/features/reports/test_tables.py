"""Reports of readers on both databases."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any

import pytest
from attrs import evolve

from directory_server.domain.errors import BadInput, NotFound, TooManyReports
from directory_server.features.reports import tables
from directory_server.features.reports.tables import Report, Reports

from ...contract import at_once, awaited
from ...tables.conftest import TablesTest

BROKEN = Report("id-1", "io.github.example/mail", "1.0.0", "broken", "It does not start.", 1_000.0)


class TestReports(TablesTest):
    def reports(self) -> Reports:
        return Reports(self.open_tables())

    async def outcome(self, call: Coroutine[Any, Any, Report]) -> str:
        """Return the id of the added report, or the name of the error."""
        try:
            return (await call).id
        except TooManyReports:
            return "full"

    @awaited
    async def test_an_added_report_is_open_in_every_process(self) -> None:
        one, other = self.reports(), self.reports()
        added = await one.add(BROKEN)
        assert added.id
        assert added == evolve(BROKEN, id=added.id)
        assert list(await other.list()) == [added]
        assert await other.count() == 1
        assert list(await other.list(closed=True)) == []

    @awaited
    async def test_lists_the_last_reported_first(self) -> None:
        reports = self.reports()
        added = [await reports.add(evolve(BROKEN, reported_at=at)) for at in (2.0, 3.0, 3.0, 1.0)]
        expected = [added[2], added[1], added[0], added[3]]
        assert list(await reports.list()) == expected
        assert list(await reports.list(limit=2)) == expected[:2]
        for each in added:
            await reports.close(each.id, 9.0)
        assert list(await reports.list(closed=True, limit=3)) == [evolve(each, closed_at=9.0) for each in expected[:3]]

    @awaited
    async def test_a_closed_report_keeps_the_time_of_its_first_closing(self) -> None:
        reports, other = self.reports(), self.reports()
        added = await reports.add(BROKEN)
        await reports.close(added.id, 2_000.0)
        await other.close(added.id, 3_000.0)
        assert list(await other.list(closed=True)) == [evolve(added, closed_at=2_000.0)]
        assert list(await other.list()) == []
        assert await reports.count() == 0

    @awaited
    async def test_raises_not_found_for_an_unknown_report(self) -> None:
        reports = self.reports()
        for unknown in ("abc", "", "a\0b", "\udc80"):
            with pytest.raises(NotFound, match="No report has the id"):
                await reports.close(unknown, 1.0)

    @awaited
    async def test_cleans_the_texts(self) -> None:
        reports = self.reports()
        hostile = "a\0b\x1b[31m\u202e\udc80\r\nc "
        await reports.add(evolve(BROKEN, text=hostile, server_name=hostile, version=hostile))
        (found,) = await reports.list()
        assert found.text == found.server_name == found.version == "a\ufffdb\ufffd[31m\ufffd\nc"

    @pytest.mark.parametrize(
        ("reason", "text", "code"),
        [
            ("unknown", "text", "reason_wrong"),
            ("", "text", "reason_wrong"),
            ("spam", "x" * (tables.MAX_TEXT + 1), "text_long"),
            ("other", " \n ", "text_missing"),
        ],
    )
    @awaited
    async def test_rejects_an_invalid_report_and_stores_nothing(self, reason: str, text: str, code: str) -> None:
        reports = self.reports()
        with pytest.raises(BadInput) as raised:
            await reports.add(evolve(BROKEN, reason=reason, text=text))
        assert raised.value.code == code
        assert await reports.count() == 0

    @awaited
    async def test_a_text_may_be_missing_or_of_the_largest_size(self) -> None:
        reports = self.reports()
        await reports.add(evolve(BROKEN, reason="spam", text=""))
        await reports.add(evolve(BROKEN, reason="other", text="é" * tables.MAX_TEXT))
        assert {each.text for each in await reports.list()} == {"", "é" * tables.MAX_TEXT}

    @awaited
    async def test_one_entry_cannot_use_all_places(self) -> None:
        reports = self.reports()
        added = [await reports.add(BROKEN) for _ in range(tables.MAX_OPEN_OF_ENTRY)]
        with pytest.raises(TooManyReports):
            await reports.add(BROKEN)
        await reports.add(evolve(BROKEN, mcp_id="id-2"))
        await reports.close(added[0].id, 2_000.0)
        await reports.add(BROKEN)
        assert await reports.count() == tables.MAX_OPEN_OF_ENTRY + 1

    @awaited
    async def test_concurrent_reports_stay_within_the_limit(self) -> None:
        reports = [self.reports() for _ in range(5)]
        for _ in range(tables.MAX_OPEN_OF_ENTRY - 2):
            await reports[0].add(BROKEN)
        outcomes = await at_once(*(self.outcome(each.add(BROKEN)) for each in reports))
        assert outcomes.count("full") == 3
        assert await reports[0].count() == tables.MAX_OPEN_OF_ENTRY

    @awaited
    async def test_open_and_closed_reports_are_bounded(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(tables, "MAX_OPEN", 5)
        monkeypatch.setattr(tables, "MAX_CLOSED", 5)
        reports = self.reports()
        added = [
            await reports.add(evolve(BROKEN, mcp_id=f"id-{number}", reported_at=float(number)))
            for number in range(tables.MAX_OPEN)
        ]
        with pytest.raises(TooManyReports):
            await reports.add(evolve(BROKEN, mcp_id="another"))
        assert len(await reports.list()) == tables.MAX_OPEN
        for number, each in enumerate(added):
            await reports.close(each.id, 5_000.0 + number)
        last = await reports.add(BROKEN)
        await reports.close(last.id, 9_000.0)
        closed = [each.id for each in await reports.list(closed=True)]
        assert len(closed) == tables.MAX_CLOSED
        assert last.id in closed
        assert added[0].id not in closed
        assert added[1].id in closed
