"""The fixed page of 50 hits, about 6 KB, that all servers return when the cost of search is left out."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from directory_server import sample
from directory_server.domain.search import Page, Query
from directory_server.domain.views import Hit
from directory_server.search import ImpactIndex
from directory_server.serialization import decode_entry, encode_hit, hits_of

HITS = 50


@cache
def hits() -> tuple[Hit, ...]:
    """Return the hits of the page: those of the sample catalogue, with shortened texts."""
    entries = [decode_entry(server) for server in json.loads(sample.path().read_bytes())["servers"]]
    found = [entry.hit() for entry in entries[:HITS]]
    assert len(found) == HITS
    return tuple(Hit(hit.mcp_id, hit.name[:16], hit.brief[:36], hit.website_url[:32], hit.name[:16]) for hit in found)


def rest_document() -> dict[str, Any]:
    """Return the page as the REST API encodes it."""
    listed = [{"name": hit.name, "brief": hit.brief, "website_url": hit.website_url} for hit in hits()]
    return {"data": listed, "count": len(listed)}


def tool_result() -> dict[str, Any]:
    """Return the page as the tool search_mcp encodes it."""
    listed = [
        {"mcp_id": hit.mcp_id, "name": hit.name, "brief": hit.brief, "website_url": hit.website_url} for hit in hits()
    ]
    return {"success": True, "data": listed, "count": len(listed)}


def stub_search() -> None:
    """Make every index of this process return the page for every query."""
    records = [encode_hit(hit, hit.server_name) for hit in hits()]

    async def search(self: ImpactIndex, query: Query) -> Page:
        # A page caches its encoded forms. A new one is joined from the records for each query.
        return Page(hits_of(records))

    ImpactIndex.search = search  # type: ignore[method-assign]
