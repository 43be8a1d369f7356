"""Clients, and the requests that each sends: one record per client.

Sources: the requests of VS Code and mcp-publisher are those of `tests/web/test_vscode_gallery.py`,
`tests/features/ard/test_vscode.py` and `tests/features/publishing/mcp_publisher.json`. Those of Copilot CLI are in its
issues 3436 and 3772. JetBrains has no public source: the two requests that each client of the registry API needs
are assumed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

from attrs import evolve, field, frozen

from ...http import MAX_BODY
from ...serialization import encode

Base = Literal["registry", "server"]
"""What the path of a request follows: the URL of the registry API, which may have a secret path, or of the server."""

NAME = "{name}"
"""Stands in a path for the name of the first server that the client has seen, percent-encoded."""

WEB = "https://vscode.dev"
"""The origin of VS Code in a browser."""

_INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "client-check", "version": "1"},
    },
}

_EVENTS = {"Accept": "text/event-stream"}
_MCP = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}

_DOCUMENT = {
    "$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
    "name": "com.example/client-check",
    "description": "Is not published.",
    "version": "1.0.0",
}


@frozen
class Seen:
    """What a client reads in a response: names of servers, whether there are more, and how many it leaves out.

    `unpinned` is the number of servers with a package without an exact version.
    """

    names: tuple[str, ...] = ()
    more: bool = False
    left_out: int = 0
    unpinned: int = 0


def registry_page(value: Any) -> Seen:
    """Return the servers of a page of the registry API. VS Code leaves out those without a text in these members."""
    documents = [record["server"] for record in value["servers"]]
    whole = [server for server in documents if all(server.get(member) for member in ("name", "description", "version"))]
    names = tuple(str(server["name"]) for server in whole)
    unpinned = sum(any(map(_is_unpinned, server.get("packages", ()))) for server in whole)
    return Seen(names, bool(value["metadata"].get("nextCursor")), len(documents) - len(whole), unpinned)


def _is_unpinned(package: Mapping[str, Any]) -> bool:
    return package.get("registryType") in ("npm", "pypi", "nuget") and package.get("version") in (None, "", "latest")


def registry_version(value: Any) -> Seen:
    """Return the server of a version in the registry API."""
    return Seen((str(value["server"]["name"]),))


def ard_results(value: Any) -> Seen:
    """Return the entries of a search or list of ARD."""
    items = value["results"] if "results" in value else value["items"]
    names = tuple(str(item["identifier"]) for item in items)
    return Seen(names, bool(value.get("pageToken")) or value.get("total", 0) > len(names))


def plugins(value: Any) -> Seen:
    """Return the plugins of a marketplace of Claude Code."""
    return Seen(tuple(str(plugin["name"]) for plugin in value["plugins"]))


def any_object(value: Any) -> Seen:
    """Return nothing of an object. Raises TypeError for another value."""
    if not isinstance(value, dict):
        raise TypeError
    return Seen()


@frozen
class Probe:
    """A request of a client. `reads` returns what the client sees in the JSON of the response.

    If `optional`, the client or the operator can do without it: a status of 404 is no problem. If also `quiet`, that,
    a redirect and a request for credentials are not worth a note.
    """

    path: str
    reads: Callable[[Any], Seen] = any_object
    base: Base = "registry"
    method: str = "GET"
    headers: Mapping[str, str] = field(factory=lambda: {"Accept": "application/json"})
    body: bytes = b""
    optional: bool = False
    quiet: bool = False

    @property
    def lists(self) -> bool:
        """Whether the number of servers is that of the response."""
        return self.reads in (registry_page, ard_results, plugins)


@frozen
class ClientRecord:
    """A client: its name, the credentials that it can send, and its requests in their order.

    `origin` is that of the web page that sends them. `setting` is where its URL is set. `reads_managed` is whether it
    obeys managed settings, and `compares` whether it compares a start with the registry under the policy registry-only.
    """

    name: str
    key: bool
    setting: str
    probes: tuple[Probe, ...]
    origin: str = ""
    reads_managed: bool = False
    compares: bool = False


def streams(headers: Mapping[str, str]) -> bool:
    """Return whether a request with `headers` opens a stream of events."""
    return headers.get("Accept") == "text/event-stream"


def _json(path: str, body: Any, reads: Callable[[Any], Seen], *, optional: bool = False) -> Probe:
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    return Probe(path, reads, "server", "POST", headers, encode(body), optional)


_GALLERY = (
    Probe("/v0.1/servers?limit=1", registry_page),
    Probe("/v0.1/servers?limit=50&version=latest", registry_page),
    Probe("/v0.1/servers?limit=50&version=latest&search=a", registry_page),
)
_INSTALLED = Probe(f"/v0.1/servers/{NAME}/versions/latest", registry_version)
_MCP_ENDPOINT = Probe("/api/open/mcp", any_object, "server", "POST", _MCP, encode(_INITIALIZE))
_MCP_STREAM = Probe("/api/open/mcp", any_object, "server", headers=_EVENTS)
# Clients read the JSON of its error response.
_OAUTH = Probe("/.well-known/oauth-protected-resource", any_object, "server", optional=True, quiet=True)
_ARD_SEARCH = _json("/api/ard/v1/search", {"query": {"text": "database"}, "pageSize": 30}, ard_results)
_VALIDATE = _json("/v0/validate", _DOCUMENT, any_object, optional=True)

CLIENTS = (
    ClientRecord("VS Code", False, "policy McpGalleryServiceUrl", (*_GALLERY, _INSTALLED), reads_managed=True),
    ClientRecord("VS Code for the Web", False, "policy McpGalleryServiceUrl", (*_GALLERY, _INSTALLED), origin=WEB),
    ClientRecord(
        "Copilot CLI",
        False,
        "MCP Registry URL of the organization",
        (Probe("/servers?limit=30", registry_page, optional=True), *_GALLERY[1:2], _INSTALLED),
        reads_managed=True,
        compares=True,
    ),
    ClientRecord(
        "JetBrains (Copilot)",
        False,
        "MCP Registry URL of the organization",
        (*_GALLERY[1:2], _INSTALLED),
        reads_managed=True,
        compares=True,
    ),
    ClientRecord("Cursor", True, "~/.cursor/mcp.json", (_OAUTH, _MCP_ENDPOINT, _MCP_STREAM)),
    ClientRecord(
        "Claude Code",
        True,
        ".mcp.json",
        (_OAUTH, _MCP_ENDPOINT, _MCP_STREAM, Probe("/v0.1/claude/marketplace.json", plugins, optional=True)),
        reads_managed=True,
    ),
    ClientRecord(
        "ARD clients",
        True,
        "domain of the server",
        (
            Probe("/.well-known/ard.json", any_object, "server"),
            _ARD_SEARCH,
            Probe("/api/ard/v1/agents?pageSize=30&offset=0", ard_results, "server"),
        ),
    ),
    ClientRecord(
        "mcp-publisher",
        False,
        "mcp-publisher login --registry URL",
        # A long document, as long as the server accepts one.
        (
            _VALIDATE,
            evolve(_VALIDATE, body=_VALIDATE.body + b" " * (MAX_BODY - len(_VALIDATE.body))),
        ),
    ),
    ClientRecord(
        "Web browsers",
        False,
        "web.url",
        (Probe("/news", any_object, "server", headers=_EVENTS, optional=True, quiet=True),),
    ),
)
