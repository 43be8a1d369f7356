"""What all servers answer when nothing is searched: one page of 50 hits, some 6 KB as the REST door writes it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from directory_server import sample
from directory_server.domain.changes import Change
from directory_server.domain.search import Page, Query
from directory_server.domain.views import Hit
from directory_server.serialization import decode_entry

HITS = 50


def hits() -> list[Hit]:
    """Return the hits of the page: those of the sample, with shorter words."""
    entries = [decode_entry(each) for each in json.loads(sample.path().read_bytes())["servers"]]
    found = [entry.hit() for entry in entries[:HITS]]
    assert len(found) == HITS
    return [Hit(hit.mcp_id, hit.name[:16], hit.brief[:36], hit.website_url[:32]) for hit in found]


def rest() -> dict[str, Any]:
    """Return the page as the REST door has it."""
    listed = [{"name": hit.name, "brief": hit.brief, "website_url": hit.website_url} for hit in hits()]
    return {"data": listed, "count": len(listed)}


def tool() -> dict[str, Any]:
    """Return the page as the tool search_mcp has it."""
    listed = [
        {"mcp_id": hit.mcp_id, "name": hit.name, "brief": hit.brief, "website_url": hit.website_url} for hit in hits()
    ]
    return {"success": True, "data": listed, "count": len(listed)}


class StubIndex:
    """An Index that finds the same page whatever is asked."""

    generation = 1

    def __init__(self) -> None:
        self._page = Page(hits())

    def __len__(self) -> int:
        return HITS

    async def apply(self, changes: Sequence[Change]) -> None:
        """Take nothing."""

    async def search(self, query: Query) -> Page:
        """Return the page."""
        return self._page
