"""Catalogue mode: on the search page members see what needs approval, and request it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import evolve, frozen

from ... import serialization
from ...domain.accounts import Account
from ...domain.requests import MAX_TEXT
from ...feature.server import Server
from ...http import Request
from .entry_bar import STATES
from .pages import Stored

CANDIDATES, MAX_SHOWN = 30, 6
"""Hits of a search in all entries, and those outside of the lists of a member that the page shows."""


@frozen
class NeedsApproval:
    """The entries that match a search and are outside of the lists of the viewer, each with the form to request it."""

    _stored: Stored
    _server: Server

    async def read(self, request: Request, viewer: Account | None, keywords: str) -> Mapping[str, Any] | None:
        """Return the values of the part; None if there are no such entries."""
        session = await self._server.operators.cookies.load(request) if viewer is not None else None
        if viewer is None or session is None or self._stored.scopes is None:
            return None
        scope, every = await self._stored.scopes.of(viewer.id), self._server.directory
        if scope is None:
            return None
        page = await every.search(
            evolve(serialization.search_query(keywords, CANDIDATES), browse=True), ("pages", viewer.id)
        )
        ids = [hit.mcp_id for hit in page.hits]
        inside = {entry.mcp_id for entry in await every.within(scope).store.entries(ids)}
        outside = [entry for entry in await every.store.entries(ids) if entry.mcp_id not in inside][:MAX_SHOWN]
        # The lists that ask for approval: those that accept requests.
        lists = await self._stored.requestable(viewer)
        names = [entry_list.name for entry_list in lists]
        rows = []
        for entry in outside:
            states = {
                name: STATES.get(asked.state, "")
                for name, asked in (await self._stored.requests.states(entry.name, names)).items()
            }
            waiting = "pending" if "pending" in states.values() else "declined" if "declined" in states.values() else ""
            open_lists = [entry_list for entry_list in lists if states.get(entry_list.name) != "pending"]
            rows.append((await every.detail_of(entry), entry, waiting, open_lists))
        return {"rows": rows, "csrf": session.csrf, "longest": MAX_TEXT} if rows else None
