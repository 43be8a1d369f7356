"""The REST door: search and entries, for scripts."""

from __future__ import annotations

from urllib.parse import urlencode

from attrs import frozen
from twisted.web.server import Request

from .. import wire
from ..directory import Directory
from ..model import Page
from ._headers import query
from ._reply import reply
from .gate import Gate

SEARCH = "/api/open/v1/search"


@frozen
class Rest:
    """Answers below `/api/open/v1/`."""

    _gate: Gate
    _directory: Directory

    async def search(self, request: Request) -> bytes:
        """Answer a page of hits; the next one's address is in the Link header (RFC 8288)."""
        async with self._gate.admit(request) as visit:
            wanted = wire.search_parameters(query(request))
            await visit.charge()
            page = await self._directory.search(wanted)
        if page.next is not None:
            parameters = {"keywords": wanted.keywords, "limit": wanted.limit}
            link = urlencode({**parameters, "cursor": wire.encode_cursor(wanted, page.next)})
            request.setHeader("Link", f'<{SEARCH}?{link}>; rel="next"')
        return reply(request, page.form(_body))

    async def entry(self, request: Request, mcp_id: str) -> bytes:
        """Answer all that is known of an entry."""
        async with self._gate.admit(request) as visit:
            wanted = wire.entry_id(mcp_id)
            wire.no_parameters(query(request))
            await visit.charge()
            detail = await self._directory.detail(wanted)
        return reply(request, wire.encode_detail(detail))


def _body(page: Page) -> bytes:
    hits = [{"name": hit.name, "brief": hit.brief, "website_url": hit.website_url} for hit in page.hits]
    return wire.encode({"data": hits, "count": len(hits)})
