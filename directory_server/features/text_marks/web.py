"""The web part of marks: handlers and tab."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import evolve, frozen

from ...domain.entries import Entry
from ...domain.filters import OR
from ...domain.marks import KINDS
from ...domain.search import Query
from ...domain.withholding import entry_marks
from ...feature.parts import WebPart
from ...feature.server import Server
from ...web.account import Next, Sent, form, page
from ...web.operator_requests import ADMIN, OperatorRequests
from ...web.routes import APPS, App
from .tables import AcceptedMarks

MARKS = f"{ADMIN}/marks"

PER_PAGE = 20
"""Entries on a page."""

MAX_PAGE = 500
"""The number of the last page."""


@frozen
class OperatorPages:
    """Handles the list of entries with marks that are not accepted, and the forms that accept or withdraw."""

    app = App()

    _requests: OperatorRequests
    _accepted: AcceptedMarks
    _server: Server

    @app.get(MARKS)
    @page("list")
    async def get(self, sent: Sent) -> Mapping[str, Any]:
        asked = sent.fields
        kind = asked.get("kind", "") if asked.get("kind") in KINDS else ""
        number = int(asked["page"]) if asked.get("page", "").isdecimal() and len(asked["page"]) < 4 else 1
        number = min(max(number, 1), MAX_PAGE)
        query = Query(f"flag:{kind or OR.join(KINDS)}", PER_PAGE, browse=True)
        hits = await self._server.directory.search(evolve(query, offset=PER_PAGE * (number - 1)))
        accepted = await self._accepted.entries()
        entries = await self._server.storage.store.entries([hit.mcp_id for hit in hits.hits])
        return {
            "rows": [await self._row(entry) for entry in entries],
            "kinds": KINDS,
            "kind": kind,
            "total": hits.summary.total if hits.summary else 0,
            "accepted": [entry.name for entry in await self._server.storage.store.entries(accepted[:PER_PAGE])],
            "next_url": f"{MARKS}?kind={kind}&page={number + 1}" if hits.next and number < MAX_PAGE else "",
        }

    async def _row(self, entry: Entry) -> tuple[Entry, Sequence[object], Mapping[str, str]]:
        """Return an entry, its marks that are not accepted, and the excerpts of those of its own texts by id."""
        detail = await self._server.directory.detail_of(entry)
        marks = await self._server.offload(entry_marks, entry)
        return entry, detail.marks, {mark.id: mark.excerpt for mark in marks}

    @app.post(f"{MARKS}/accept")
    @form(MARKS)
    async def accept(self, sent: Sent) -> Next:
        await self._accepted.accept(sent.fields.get("name", ""), sent.fields.get("mark", ""))
        self._server.bus.announce()
        return Next(MARKS, "accepted")

    @app.post(f"{MARKS}/withdraw")
    @form(MARKS)
    async def withdraw(self, sent: Sent) -> Next:
        await self._accepted.withdraw(sent.fields.get("name", ""))
        self._server.bus.announce()
        return Next(MARKS, "withdrawn")


NAME = "text_marks"


def _serve(server: Server) -> None:
    accepted = AcceptedMarks(server.storage.tables)
    server.add(APPS, OperatorPages(server.operators.of_folder(NAME), accepted, server).app)


PART = WebPart(
    serve=_serve,
    tabs=(("entries", MARKS, f"{NAME}.tab"),),
)
