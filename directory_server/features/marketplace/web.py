"""The web part of the marketplace: handlers."""

from __future__ import annotations

from attrs import evolve, field, frozen
from werkzeug.exceptions import NotFound as UnknownPath

from ... import serialization
from ...domain.errors import BadInput
from ...domain.search import Query
from ...feature.parts import WebPart
from ...feature.server import Server
from ...http import Request
from ...http.headers import query as query_string
from ...web.openapi import OpenApiPart, registry_read
from ...web.registry import MAX_AGE
from ...web.responses import conditional_response
from ...web.routes import APPS, REGISTRY, App
from .documents import Plugins, marketplace
from .repository import REFS, upload_pack

PATH = "/v0.1/claude"

REPOSITORY = f"{PATH}/plugin.git"

DEFAULT_PLUGINS, MAX_PLUGINS = 20, 100
"""Entries of a marketplace, by default and at most."""


@frozen
class MarketplaceHandlers:
    """Handlers of the marketplace for clients of the registry API, and of the repository of all plugins."""

    app = App(REGISTRY)

    _server: Server
    _plugins: Plugins = field(factory=Plugins)

    @app.get(f"{PATH}/marketplace.json", f"/r/{{token}}{PATH}/marketplace.json")
    async def get(self, request: Request, token: str | None = None) -> bytes:
        """Respond with the marketplace of the best hits, without `q` of the best known entries."""
        server = self._server
        client = await server.registry_access.authenticate(request, token)
        parameters = serialization.url_parameters(query_string(request), "q", "limit")
        keywords, limit = parameters.get("q", "").strip(), _limit(parameters.get("limit", ""))
        asked = serialization.search_query(keywords, limit) if keywords else Query("", limit, browse=True)
        asked = evolve(asked, kinds="servers")
        versions, _ = await server.catalogue.of(request).search_versions(asked, source=("registry", client))
        all_listed = server.config.registry.listed != "curated"
        listed = [version for version in versions if version.curated or all_listed]
        base_url = server.layout.base_url(request)
        selection = " ".join(filter(None, (keywords, f"list:{request.list_name}" if request.list_name else "")))
        body = await server.offload(marketplace, self._plugins, listed, base_url, f"{base_url}{REPOSITORY}", selection)
        return conditional_response(request, body, f"{server.registry_access.caching(request)}, max-age={MAX_AGE}")

    @app.get(f"{REPOSITORY}/info/refs")
    async def refs(self, request: Request) -> bytes:
        """Respond with the only commit of the repository, which is the same everywhere and needs no key."""
        return self._git(request, REFS, "advertisement")

    @app.post(f"{REPOSITORY}/git-upload-pack")
    async def pack(self, request: Request) -> bytes:
        """Respond with the pack of the repository."""
        return self._git(request, upload_pack(request.body), "result")

    def _git(self, request: Request, body: bytes, kind: str) -> bytes:
        if self._server.registry_access.mode == "off":
            raise UnknownPath
        content_type = f"application/x-git-upload-pack-{kind}"
        return conditional_response(request, body, "no-cache", **{"Content-Type": content_type})


def _limit(text: str) -> int:
    if not text:
        return DEFAULT_PLUGINS
    if not (text.isascii() and text.isdigit() and len(text) < 4 and 1 <= int(text) <= MAX_PLUGINS):
        raise BadInput(f"limit: must be a whole number from 1 to {MAX_PLUGINS}.")
    return int(text)


def _serve(server: Server) -> None:
    server.add(APPS, MarketplaceHandlers(server).app)


PART = WebPart(
    serve=_serve,
    openapi=OpenApiPart(
        paths={
            f"{PATH}/marketplace.json": registry_read(
                "marketplace",
                "Read entries as plugins of Claude Code",
                "The best hits of `q`, or the best known entries, that can be installed without further answers.",
                "application/json",
                [
                    {"name": "q", "in": "query", "schema": {"type": "string"}, "description": "A search."},
                    {
                        "name": "limit",
                        "in": "query",
                        "schema": {"type": "integer", "minimum": 1, "maximum": MAX_PLUGINS, "default": DEFAULT_PLUGINS},
                        "description": "The number of entries.",
                    },
                ],
            )
        },
    ),
)
