"""REST API: search and entries."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attrs import evolve, frozen

from .. import serialization
from ..domain.entries import mcp_id_of
from ..domain.ports.runtime import Offload
from ..domain.search import Page, Position, Query
from ..http import Request
from ..http.headers import query
from ..services.catalogue import Catalogue
from ..services.directory import Directory
from .authentication import Authenticator
from .responses import json_response, list_path
from .routes import REST, App

SEARCH = "/api/open/v1/search"


@frozen
class RestHandlers:
    """Handlers of the search and entry paths below `/api/open/v1/`."""

    app = App(REST)

    _authenticator: Authenticator
    _catalogue: Catalogue
    _offload: Offload
    _now: Callable[[], float]

    @app.get("/api/open/v1/search")
    async def search(self, request: Request) -> bytes:
        """Respond with a page of hits; the Link header has the URL of the next page (RFC 8288)."""
        async with self._authenticator.authenticate(request) as authenticated:
            asked = serialization.search_parameters(query(request), self._now())
            search, fields = asked.query, asked.fields
            await authenticated.charge()
            directory = self._catalogue.of(request)
            source = "REST", authenticated.key.client_id
            if fields is None:
                body, position = await directory.search_form(search, _body, source)
            else:
                search = await directory.prepare(search)
                page = await directory.search(search, source)
                body, position = await self._selected_fields(directory, search, page, fields)
        if position is not None:
            link = asked.next_page(serialization.encode_cursor(search, position))
            request.setHeader("Link", f'<{list_path(request)}{SEARCH}?{link}>; rel="next"')
        return json_response(request, body)

    @app.get("/api/open/v1/entries/{mcp_id}")
    async def entry(self, request: Request, mcp_id: str) -> bytes:
        async with self._authenticator.authenticate(request) as authenticated:
            entry_id = serialization.entry_id(mcp_id)
            serialization.no_parameters(query(request))
            await authenticated.charge()
            detail = await self._catalogue.of(request).detail(entry_id, authenticated.key.client_id)
        return json_response(request, serialization.encode_detail(detail))

    async def _selected_fields(
        self, directory: Directory, search: Query, page: Page, fields: Sequence[str]
    ) -> tuple[bytes, Position | None]:
        """Return a body with `fields` of each hit, and the position after its last hit."""
        if serialization.HIT_FIELDS.issuperset(fields):
            return _records(serialization.hit_records(page.hits, fields), page), page.next
        tools = serialization.matching_tools(page.hits, fields)
        versions, position = await directory.search_versions(search)
        records = await self._offload(serialization.detail_records, versions, fields, tools, directory.summary_of)
        if len(records) < len(versions):
            last = mcp_id_of(versions[len(records) - 1].name)
            count = next(number for number, hit in enumerate(page.hits, 1) if hit.mcp_id == last)
            position = (await directory.search(evolve(search, limit=count))).next
        return _records(records, page), position


def _body(page: Page) -> tuple[bytes, Position | None]:
    return serialization.listed_page(page.hits.records), page.next


def _records(records: Sequence[bytes], page: Page) -> bytes:
    items = [serialization.raw(record) for record in records]
    return serialization.search_page(items, len(items), page.match, page.searched_for)
