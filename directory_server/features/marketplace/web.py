"""The web part of the marketplace: handlers."""

from __future__ import annotations

import hashlib
import re
import zlib
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any
from urllib.parse import urlsplit

from attrs import define, evolve, field, frozen
from werkzeug.exceptions import NotFound as UnknownPath

from ... import serialization
from ...client_config import install_options
from ...domain.details import detail_of
from ...domain.entries import Entry
from ...domain.errors import BadInput
from ...domain.search import Query
from ...domain.versions import Version
from ...domain.withholding import shown_hit
from ...feature.parts import WebPart
from ...feature.server import Server
from ...http import Request
from ...http.headers import query as query_string
from ...serialization import encode, restore_entry
from ...web.openapi import OpenApiPart, registry_read
from ...web.registry import MAX_AGE
from ...web.responses import conditional_response
from ...web.routes import APPS, REGISTRY, App

EDITOR = "claude-code"
"""The id of the editor in `client_config`."""

MAX_BYTES = 1_000_000
"""Bytes of plugins after which further entries are left out."""

MAX_NAME = 64
"""Characters of the name of a plugin or a marketplace."""


MAX_CACHED, MAX_CACHED_SIZE = 2_000, 4_000
"""Plugins in memory, and bytes of each. Real ones have some 500."""


@define
class Plugins:
    """The plugins of documents, which are a function of these: the newest MAX_CACHED are in memory."""

    _encoded: dict[bytes, bytes] = field(factory=dict, init=False)

    def of(self, body: bytes, source: str) -> bytes:
        """Return the plugin of an encoded entry, empty if it cannot be installed. Threads may call it."""
        digest = blake2b(b"%s\0%s" % (source.encode(), body), digest_size=16).digest()
        plugin = self._encoded.get(digest)
        if plugin is None:
            entry = restore_entry(body)
            servers = _servers(entry)
            plugin = b"" if servers is None else encode(_plugin(entry, servers, source))
            if len(self._encoded) >= MAX_CACHED:
                self._encoded.clear()
            if len(plugin) <= MAX_CACHED_SIZE:
                self._encoded[digest] = plugin
        return plugin


def marketplace(plugins: Plugins, versions: Sequence[Version], base_url: str, source: str, selection: str) -> bytes:
    """Return the marketplace of `versions`, the entries of a `selection`: a query, and a list.

    `source` is the URL of the repository of all plugins. A user can have one marketplace of a name, so other selections
    have other names.
    """
    chosen: list[bytes] = []
    size = 0
    for plugin in filter(None, (plugins.of(version.body, source) for version in versions)):
        size += len(plugin)
        if size > MAX_BYTES:
            break
        chosen.append(plugin)
    host = _slug(urlsplit(base_url).hostname or "") or "directory"
    suffix = f"-{blake2b(selection.encode(), digest_size=4).hexdigest()}" if selection else ""
    head = encode(
        {
            "name": f"mcp-{host[: MAX_NAME - 13]}{suffix}",
            "owner": {"name": host, "url": base_url},
            "description": "Servers of the MCP directory" + (f' for "{selection}".' if selection else "."),
        }
    )
    return head[:-1] + b',"plugins":[' + b",".join(chosen) + b"]}"


def _servers(entry: Entry) -> Mapping[str, Any] | None:
    """Return the servers in the first configuration of an entry that the user need not complete or review."""
    detail = detail_of(entry)
    for option in install_options(entry.name, entry.mcp_id, detail.packages, detail.remotes):
        if option.setups is None or option.setups.needs_review:
            continue
        for setup in option.setups.setups:
            # Without a command the user has to complete the configuration.
            if setup.editor.id == EDITOR and setup.command:
                servers: Mapping[str, Any] = setup.config["mcpServers"]
                return servers
    return None


def plugin_name(entry: Entry) -> str:
    """Return the name of the plugin of an entry: a function of the whole name of the entry and of nothing else.

    A slug alone has many names. Its digits are 62 bits of a hash, so nobody finds another name with the same ones.
    """
    digits = entry.mcp_id.replace("-", "")[-16:]
    return f"{_slug(entry.name)[: MAX_NAME - 17].strip('-')}-{digits}".lstrip("-")


def _plugin(entry: Entry, servers: Mapping[str, Any], source: str) -> dict[str, Any]:
    hit = shown_hit(entry)
    namespace = hit.server_name.partition("/")[0]
    return {
        "name": plugin_name(entry),
        "description": hit.brief or hit.name,
        "version": entry.version[:100],
        "author": {"name": namespace},
        **({"homepage": hit.website_url} if hit.website_url else {}),
        "source": {"source": "url", "url": source},
        # The entry defines the whole plugin: its repository has one text.
        "strict": False,
        "mcpServers": servers,
    }


def _slug(text: str) -> str:
    """Return a name of lower-case letters, digits and hyphens, as Claude Code demands."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:MAX_NAME].rstrip("-")


def _object(kind: bytes, body: bytes) -> bytes:
    return hashlib.sha1(b"%s %d\0%s" % (kind, len(body), body), usedforsecurity=False).hexdigest().encode()


def _packed(kind: int, body: bytes) -> bytes:
    """Return an object of a pack: its kind and size, seven bits in a byte after the first four, and its body."""
    size, head = len(body) >> 4, [kind << 4 | len(body) & 15]
    while size:
        head[-1] |= 128
        head.append(size & 127)
        size >>= 7
    return bytes(head) + zlib.compress(body)


def _line(text: bytes) -> bytes:
    return b"%04x%s" % (len(text) + 4, text)


_FLUSH = b"0000"

TEXT = b"The plugin is in the marketplace file.\n"

_TREE_BODY = b"100644 README.md\0" + bytes.fromhex(_object(b"blob", TEXT).decode())

_COMMIT_BODY = b"tree %s\nauthor directory <> 0 +0000\ncommitter directory <> 0 +0000\n\n%s" % (
    _object(b"tree", _TREE_BODY),
    TEXT,
)

COMMIT = _object(b"commit", _COMMIT_BODY)

_OBJECTS = b"PACK\0\0\0\2\0\0\0\3" + _packed(1, _COMMIT_BODY) + _packed(2, _TREE_BODY) + _packed(3, TEXT)

_PACK = _OBJECTS + hashlib.sha1(_OBJECTS, usedforsecurity=False).digest()

REFS = (
    _line(b"# service=git-upload-pack\n")
    + _FLUSH
    + _line(b"%s HEAD\0shallow symref=HEAD:refs/heads/main\n" % COMMIT)
    + _line(b"%s refs/heads/main\n" % COMMIT)
    + _FLUSH
)
"""The response that names the commit."""


def upload_pack(request: bytes) -> bytes:
    """Return the response to a request for the commit: an empty list of shallow commits if it has a depth, the pack."""
    depth = _FLUSH if b"deepen " in request else b""
    return depth + (_line(b"NAK\n") + _PACK if b"done" in request else b"")


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


PART = WebPart(
    serve=lambda server: server.add(APPS, MarketplaceHandlers(server).app),
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
