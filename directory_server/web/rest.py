"""The REST endpoints for scripts: search and entries."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlencode

from attrs import evolve, frozen

from .. import serialization
from ..domain.entries import mcp_id_of
from ..domain.ports.runtime import Offload
from ..domain.search import Page, Position, Query
from ..http import Request
from ..http.headers import query
from ..services.directory import Directory
from .authentication import Authenticator
from .responses import json_response

SEARCH = "/api/open/v1/search"


@frozen
class RestHandlers:
    """Answers below `/api/open/v1/`."""

    _gate: Authenticator
    _directory: Directory
    _offload: Offload

    async def search(self, request: Request) -> bytes:
        """Answer a page of hits; the next one's address is in the Link header (RFC 8288)."""
        async with self._gate.authenticate(request) as visit:
            wanted = serialization.search_parameters(query(request))
            fields = serialization.search_fields(query(request))
            await visit.charge()
            page = await self._directory.search(wanted)
            body, place = (page.form(_body), page.next) if fields is None else await self._chosen(wanted, page, fields)
        if place is not None:
            chosen = {} if fields is None else {"fields": ",".join(fields)}
            parameters = {"keywords": wanted.keywords, "limit": wanted.limit, **chosen}
            link = urlencode({**parameters, "cursor": serialization.encode_cursor(wanted, place)})
            request.setHeader("Link", f'<{SEARCH}?{link}>; rel="next"')
        return json_response(request, body)

    async def entry(self, request: Request, mcp_id: str) -> bytes:
        """Answer all that is known of an entry."""
        async with self._gate.authenticate(request) as visit:
            wanted = serialization.entry_id(mcp_id)
            serialization.no_parameters(query(request))
            await visit.charge()
            detail = await self._directory.detail(wanted)
        return json_response(request, serialization.encode_detail(detail))

    async def _chosen(self, wanted: Query, page: Page, fields: Sequence[str]) -> tuple[bytes, Position | None]:
        """Return the body that has these fields of each hit, and the place behind the last one in it."""
        if serialization.HIT_FIELDS.issuperset(fields):
            return _records(serialization.hit_records(page.hits, fields)), page.next
        versions, place = await self._directory.found(wanted)
        records = await self._offload(serialization.detail_records, versions, fields)
        if len(records) < len(versions):
            last = mcp_id_of(versions[len(records) - 1].name)
            count = next(number for number, hit in enumerate(page.hits, 1) if hit.mcp_id == last)
            place = (await self._directory.search(evolve(wanted, limit=count))).next
        return _records(records), place


def _body(page: Page) -> bytes:
    hits = [{"name": hit.name, "brief": hit.brief, "website_url": hit.website_url} for hit in page.hits]
    return serialization.encode({"data": hits, "count": len(hits)})


def _records(records: Sequence[bytes]) -> bytes:
    return serialization.encode({"data": [serialization.raw(record) for record in records], "count": len(records)})
