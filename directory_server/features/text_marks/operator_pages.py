"""Operator page of entries with marks, and the forms that accept marks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import evolve, frozen

from ...domain.entries import Entry
from ...domain.errors import DirectoryError
from ...domain.filters import OR
from ...domain.marks import KINDS
from ...domain.ports.runtime import Bus, Offload
from ...domain.ports.storage import Store
from ...domain.search import Query
from ...domain.withholding import entry_marks
from ...http import Request
from ...services.directory import Directory
from ...web.operator_requests import ADMIN, OperatorRequests, parameters
from .tables import AcceptedMarks

MARKS = f"{ADMIN}/marks"

PER_PAGE = 20
"""Entries on a page."""

MAX_PAGE = 500
"""The number of the last page."""


@frozen
class OperatorPages:
    """Handles the list of entries with marks that are not accepted, and the forms that accept or withdraw."""

    _requests: OperatorRequests
    _accepted: AcceptedMarks
    _directory: Directory
    _store: Store
    _bus: Bus
    _offload: Offload

    async def get(self, request: Request) -> bytes:
        """Return a page of the entries with marks."""
        member = await self._requests.member(request)
        asked = parameters(request)
        kind = asked.get("kind", "") if asked.get("kind") in KINDS else ""
        number = int(asked["page"]) if asked.get("page", "").isdecimal() and len(asked["page"]) < 4 else 1
        number = min(max(number, 1), MAX_PAGE)
        query = Query(f"flag:{kind or OR.join(KINDS)}", PER_PAGE, browse=True)
        page = await self._directory.search(evolve(query, offset=PER_PAGE * (number - 1)))
        accepted = await self._accepted.all()
        entries = await self._store.entries([hit.mcp_id for hit in page.hits])
        values = {
            "rows": [await self._row(entry) for entry in entries],
            "kinds": KINDS,
            "kind": kind,
            "total": page.summary.total if page.summary else 0,
            "accepted": [entry.name for entry in await self._store.entries(list(accepted)[:PER_PAGE])],
            "next_url": f"{MARKS}?kind={kind}&page={number + 1}" if page.next and number < MAX_PAGE else "",
        }
        return self._requests.page(request, member.session, "list", values)

    async def _row(self, entry: Entry) -> tuple[Entry, Sequence[object], Mapping[str, str]]:
        """Return an entry, its marks that are not accepted, and the excerpts of those of its own texts by id."""
        detail = await self._directory.detail_of(entry)
        marks = await self._offload(entry_marks, entry)
        return entry, detail.marks, {mark.id: mark.excerpt for mark in marks}

    async def accept(self, request: Request) -> bytes:
        """Accept a mark, and redirect to the list."""
        _, form = await self._requests.member_form(request)
        try:
            await self._accepted.accept(form.get("name", ""), form.get("mark", ""))
        except DirectoryError:
            return self._requests.form_error(request, MARKS)
        self._bus.announce()
        return self._requests.redirect(request, MARKS, "accepted")

    async def withdraw(self, request: Request) -> bytes:
        """Withdraw the accepted marks of an entry, and redirect to the list."""
        _, form = await self._requests.member_form(request)
        await self._accepted.withdraw(form.get("name", ""))
        self._bus.announce()
        return self._requests.redirect(request, MARKS, "withdrawn")
