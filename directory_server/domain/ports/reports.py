"""Port of reports about entries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ..reports import MAX_OPEN, Report


class Reports(Protocol):
    """Reports of readers about entries. They are stored until the operator closes them."""

    async def add(self, report: Report) -> Report:
        """Store a new report, and return it as stored, with an id.

        Raises BadInput (see `Report.checked`), and TooManyReports where MAX_OPEN reports of all entries or
        MAX_OPEN_OF_ENTRY reports of this entry are open.
        """

    async def list(self, *, closed: bool = False, limit: int = MAX_OPEN) -> Sequence[Report]:
        """Return at most `limit` reports that are open or, if `closed`, closed; the last reported first."""

    async def count(self) -> int:
        """Return the number of open reports."""

    async def close(self, report_id: str, at: float) -> None:
        """Close a report at the time `at`; a closed one keeps its time. Raises NotFound.

        Delete the reports that were closed first, so that at most MAX_CLOSED closed ones remain.
        """
