"""The Reports in memory."""

from __future__ import annotations

import builtins
from collections.abc import Sequence

from attrs import evolve, field, frozen

from ..domain.errors import NotFound, TooManyReports
from ..domain.keys import new_id
from ..domain.reports import MAX_CLOSED, MAX_OPEN, MAX_OPEN_OF_ENTRY, Report


@frozen
class MemoryReports:
    """Reports by id, in the order of their storage. Adapters with the same mapping act as processes."""

    _reports: dict[str, Report] = field(factory=dict)

    async def add(self, report: Report) -> Report:
        added = evolve(report.checked(), id=new_id(), closed_at=None)
        opened = self._with(closed=False)
        of_entry = sum(each.mcp_id == report.mcp_id for each in opened)
        if len(opened) >= MAX_OPEN or of_entry >= MAX_OPEN_OF_ENTRY:
            raise TooManyReports
        self._reports[added.id] = added
        return added

    async def list(self, *, closed: bool = False, limit: int = MAX_OPEN) -> Sequence[Report]:
        # The sort is stable, so of equal times the last stored comes first.
        found = self._with(closed=closed)
        found.reverse()
        found.sort(key=lambda each: each.reported_at, reverse=True)
        return found[:limit]

    async def count(self) -> int:
        return len(self._with(closed=False))

    async def close(self, report_id: str, at: float) -> None:
        report = self._reports.get(report_id)
        if report is None:
            raise NotFound(f"No report has the id {report_id!r}.")
        if report.closed_at is None:
            self._reports[report_id] = evolve(report, closed_at=at)
            closed = sorted(self._with(closed=True), key=lambda each: each.closed_at or 0.0, reverse=True)
            for each in closed[MAX_CLOSED:]:
                del self._reports[each.id]

    def _with(self, *, closed: bool) -> builtins.list[Report]:
        return [each for each in self._reports.values() if (each.closed_at is not None) == closed]
