"""Handlers of the ARD registry, of the manifest and of server cards."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Any
from urllib.parse import unquote

from attrs import evolve, frozen
from twisted.internet.defer import Deferred, succeed

from ... import serialization
from ...domain.entries import mcp_id_of
from ...domain.errors import BadInput, NotFound
from ...domain.filters import with_filter
from ...domain.kinds import KINDS, SERVER
from ...domain.search import FacetValue, Query, Summary
from ...domain.versions import Version
from ...feature.server import Server
from ...http import Request
from ...http.headers import query as query_string
from ...services.directory import Directory
from ...web.responses import conditional_response, json_response, list_path
from ...web.routes import App
from . import documents
from .access import ARD, ArdAccess
from .federation import Federation, Results, merged, own_identifiers
from .listing import list_request
from .names import IDENTIFIER, domain_of, host_name, names_of
from .requests import (
    CARD_TYPE,
    FIELDS,
    PUBLISHER,
    TYPE,
    Facet,
    SearchRequest,
    explore_request,
    next_token,
    search_request,
)
from .settings import ArdConfig

MAX_AGE = 3_600
"""Seconds for which the manifest and cards may be cached."""

_BROKEN_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")

_LIST_PARAMETERS = ("filter", "orderBy", "pageSize", "pageToken", "offset", "type")


@frozen
class ArdHandlers:
    """Handlers of the paths of the registry, and of the documents that lead to it."""

    app = App(ARD)

    _access: ArdAccess
    _server: Server
    _settings: ArdConfig
    _federation: Federation

    @app.post(f"{documents.BASE}/search")
    async def search(self, request: Request) -> bytes:
        """Respond with the entries that match a query, best first."""
        async with self._access.caller(request) as caller:
            asked = search_request(request.body)
            await caller.charge()
            foreign = self._ask_others(request, asked)
            query = asked.query
            results: list[Any] = []
            token = None
            if query is not None:
                results, token = await self._results(request, query, caller.client)
            if any(found := await foreign):
                own = await own_identifiers(
                    self._server.catalogue.of(request).store, found, host_name(self._base_url(request))
                )
                local, results = results, merged(results, found, asked.size, own)
                kept = sum(result in results for result in local)
                if query is not None and kept < len(local):
                    _, token = await self._results(request, evolve(query, limit=kept), caller.client)
        referrals = [documents.referral(url) for url in self._settings.referrals] if asked.mode == "referrals" else []
        return json_response(
            request,
            {
                "results": results,
                **({"referrals": referrals} if referrals else {}),
                **({"pageToken": token} if token else {}),
            },
        )

    @app.post(f"{documents.BASE}/explore")
    async def explore(self, request: Request) -> bytes:
        """Respond with the counts of the values of fields among the entries that match."""
        async with self._access.caller(request) as caller:
            asked = explore_request(request.body)
            await caller.charge()
            summary = None
            if asked.query is not None:
                directory = self._server.catalogue.of(request)
                summary = (await directory.search(asked.query)).summary
                if summary is not None and any(facet.field == TYPE for facet in asked.facets):
                    types = await _types(directory, asked.query, summary)
                    summary = evolve(summary, facets={**summary.facets, TYPE: types})
            facets = await self._server.offload(_facets, summary, asked.facets)
        return json_response(request, {"resultType": "facets", "facets": facets})

    @app.get(f"{documents.BASE}/agents")
    async def agents(self, request: Request) -> bytes:
        """Respond with a page of the list, the best known entries first.

        With `offset`, the response has the members that VS Code's client reads.
        """
        async with self._access.caller(request) as caller:
            asked = list_request(
                serialization.url_parameters(query_string(request), *_LIST_PARAMETERS), self._server.now()
            )
            await caller.charge()
            items: list[dict[str, Any]] = []
            total, token = 0, None
            if asked.query is not None:
                summary = (await self._server.catalogue.of(request).search(asked.query)).summary
                total = 0 if summary is None else summary.total
                items, token = await self._items(request, asked.query)
        if asked.offset is None:
            return json_response(request, {"items": items, "total": total, **({"pageToken": token} if token else {})})
        return json_response(
            request, {"results": items, "total": total, "offset": asked.offset, "pageSize": asked.size}
        )

    @app.get(f"{documents.BASE}/agents/{{identifier}}")
    async def agent(self, request: Request, identifier: str) -> bytes:
        """Respond with the entry of an identifier (ARD v0.91, section 5.3.4)."""
        async with self._access.caller(request) as caller:
            given = unquote(identifier)
            if _BROKEN_ESCAPE.search(identifier) or not IDENTIFIER.fullmatch(given):
                raise BadInput("identifier: must be a URN such as urn:air:acme.com:weather, percent-encoded once.")
            serialization.no_parameters(query_string(request))
            await caller.charge()
            directory, base_url = self._server.catalogue.of(request), self._base_url(request)
            names = names_of(given, host_name(base_url))
            stored = await directory.store.entries([mcp_id_of(name) for name in names])
            if not stored:
                raise NotFound(f"No entry has the identifier {given}.")
            found = await self._server.offload(documents.complete_entry, stored[0], base_url, directory.summary_of)
        return _document(request, found, caching=self._access.caching(request))

    @app.get(f"{documents.CARDS}/{{mcp_id}}")
    async def card(self, request: Request, mcp_id: str) -> bytes:
        """Respond with the card of an entry. Raises NotFound for one that is only at its own URL."""
        async with self._access.caller(request) as caller:
            entry_id = serialization.entry_id(mcp_id)
            serialization.no_parameters(query_string(request))
            await caller.charge()
            directory = self._server.catalogue.of(request)
            detail = await self._server.offload(directory.summary_of, await directory.entry(entry_id))
        if detail.kind == SERVER:
            card: Any = documents.server_card(detail, self._base_url(request))
            media_type = CARD_TYPE
        else:
            card, media_type = serialization.card_body(detail)
        return _document(request, card, media_type, caching=self._access.caching(request))

    @app.get(documents.OWN_CARD)
    async def own_card(self, request: Request) -> bytes:
        """Respond with the server card of the MCP endpoint, which needs no key."""
        self._access.check_on()
        return _document(request, documents.own_card(self._server.layout.base_url(request)), CARD_TYPE)

    @app.get(documents.MANIFEST, documents.FORMER_MANIFEST)
    async def manifest(self, request: Request) -> bytes:
        """Respond with the manifest, which needs no key. If it has entries, it costs what the list costs."""
        self._access.check_on()
        listed: list[dict[str, Any]] = []
        if (size := self._settings.manifest_entries) and self._access.mode == "public":
            async with self._access.caller(request) as caller:
                await caller.charge()
                asked = list_request({"pageSize": str(size)}, self._server.now())
                listed = (await self._items(request, asked.query))[0] if asked.query else []
        caching = self._access.caching(request) if listed else "public"
        return _document(request, documents.manifest(self._server.layout.base_url(request), listed), caching=caching)

    @app.get("/.well-known/mcp/catalog.json")
    async def mcp_catalog(self, request: Request) -> bytes:
        """Respond with the catalog of MCP endpoints, which needs no key."""
        self._access.check_on()
        return _document(request, documents.mcp_catalog(self._server.layout.base_url(request)))

    def _ask_others(self, request: Request, asked: SearchRequest) -> Awaitable[Sequence[Results]]:
        """Begin to ask the other registries, for the first page of a reader who sees all entries of this one."""
        if asked.mode != "auto" or not asked.is_first or self._server.catalogue.scope_of(request) is not None:
            return succeed(())
        return Deferred.fromCoroutine(self._federation.search(asked.text, asked.filters, asked.size))

    async def _results(self, request: Request, query: Query, client: str) -> tuple[list[dict[str, Any]], str | None]:
        """Return the results of a page of a search, and the token of the next page."""
        directory = self._server.catalogue.of(request)
        query = await directory.prepare(query)
        page = await directory.search(query, ("ARD", client))
        relevance = dict(zip((hit.mcp_id for hit in page.hits), page.relevance, strict=True))
        versions, position = await directory.search_versions(query)
        source = f"{self._base_url(request)}{documents.BASE}/"
        results = [
            {**entry, "score": round(100 * relevance.get(entry["metadata"]["mcpId"], 0.0)), "source": source}
            for entry in await self._entries(request, versions)
        ]
        return results, next_token(query, position)

    async def _items(self, request: Request, query: Query) -> tuple[list[dict[str, Any]], str | None]:
        """Return the entries of a page of the list, and the token of the next page."""
        versions, position = await self._server.catalogue.of(request).search_versions(query)
        return await self._entries(request, versions), next_token(query, position)

    async def _entries(self, request: Request, versions: Sequence[Version]) -> list[dict[str, Any]]:
        return await self._server.offload(
            _catalog_entries, versions, self._base_url(request), self._server.catalogue.of(request).summary_of
        )

    def _base_url(self, request: Request) -> str:
        """Return the URL of the server, or of the list that a request names."""
        return f"{self._server.layout.base_url(request)}{list_path(request)}"


def _catalog_entries(versions: Sequence[Version], base_url: str, summary_of: Callable[..., Any]) -> list[Any]:
    entries = (serialization.restore_entry(version.body) for version in versions)
    return [documents.catalog_entry(entry, base_url, summary_of) for entry in entries]


async def _types(directory: Directory, query: Query, summary: Summary) -> Sequence[FacetValue]:
    """Return the media types of the matches of a query with their numbers, the most frequent first."""
    counts = {value.value: value.count for value in summary.facets.get("kind", [FacetValue(SERVER, summary.total)])}
    types = [FacetValue(CARD_TYPE, counts.pop(SERVER, 0))]
    for name, count in counts.items():
        first, *others = KINDS[name].media_types
        # There are few kinds with several media types.
        of_others = [await _count(directory, query, media_type) for media_type in others]
        types += map(FacetValue, (first, *others), (count - sum(of_others), *of_others))
    return sorted((value for value in types if value.count), key=lambda value: -value.count)


async def _count(directory: Directory, query: Query, media_type: str) -> int:
    keywords = with_filter(query.keywords, "kind", media_type)
    summary = (await directory.search(evolve(query, keywords=keywords))).summary
    return 0 if summary is None else summary.total


def _facets(summary: Summary | None, asked: Sequence[Facet]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for facet in asked:
        values = [value for value in _counted(summary, facet.field) if value.count >= facet.min_count]
        found[facet.field] = {
            "buckets": [{"value": value.value, "count": value.count} for value in values[: facet.limit]],
            "otherCount": sum(value.count for value in values[facet.limit :]),
        }
    return found


def _counted(summary: Summary | None, field: str) -> Sequence[FacetValue]:
    """Return the values of a field with their numbers, the most frequent first."""
    if summary is None or not summary.total:
        return ()
    if field == TYPE:
        return summary.facets[TYPE]
    if field == PUBLISHER:
        return [FacetValue(domain_of(value.value), value.count) for value in summary.namespaces()]
    return summary.facets.get(FIELDS[field], ())


def _document(
    request: Request, value: Any, content_type: str = "application/json", *, caching: str = "public"
) -> bytes:
    cache_control = f"{caching}, max-age={MAX_AGE}"
    body = value if isinstance(value, bytes) else serialization.encode(value)
    return conditional_response(request, body, cache_control, **{"Content-Type": content_type})
