"""Compare the routes of the server with the table of endpoints in docs/protocol.md."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from attrs import evolve, field, frozen

from directory_server.web.pages import Assets
from directory_server.web.routes import PAGES, Route

from .conftest import META, POSTGRES_ID, PROTOCOL_HEADERS, Response, Server, parse_response
from .routes import all_routes

PROTOCOL = Path(__file__).parents[2] / "docs" / "protocol.md"
MCP = "/api/open/mcp"
ANY = "*"
ALL = "/**"

_ROW = re.compile(r"^\| (?P<names>.*?) \| (?P<api>\w+)(?:, (?P<need>key|token))?(?P<cost>, `1`)? \|", re.MULTILINE)
_NAME = re.compile(r"`(?:(?P<method>[A-Z]+) )?(?P<path>\[?/[^`]*)`")
_OPTIONAL = re.compile(r"\[(.*?)\]")

SECRET = "/r/{token}"
"""What begins the paths of the registry API with `registry.access = "secret-path"`; else they answer 404."""


@frozen
class Endpoint:
    """A row of the table: method, path, API, what it needs, its cost, and its status without a publisher token."""

    method: str
    path: str
    api: str
    what: str
    keyed: bool
    """Whether it needs an API key."""
    has_token: bool
    """Whether it needs a publisher token."""
    units: int
    status: int

    def __str__(self) -> str:
        return f"{self.method} {self.path}{self.what and ': ' + self.what}"


@frozen
class ValidRequest:
    """A valid request to an endpoint."""

    method: str
    path: str
    headers: dict[str, str] = field(factory=dict)
    body: bytes = b""


def endpoints() -> Iterator[Endpoint]:
    """Yield the rows of the table, and one for each page that only a row with `**` describes: the longest one."""
    rows = {str(row): row for row in documented_rows()}
    patterns = [rows.pop(name) for name, row in [*rows.items()] if row.path.endswith(ALL)]
    yield from rows.values()
    for route in all_routes():
        name = f"{route.method or ANY} {route.label}"
        if route.api is PAGES and name not in rows:
            matching = [row for row in patterns if is_below(route, row)]
            if matching:
                yield evolve(max(matching, key=lambda row: len(row.path)), path=route.label)


def is_below(route: Route, pattern: Endpoint) -> bool:
    """Return whether a row with `**` describes a page."""
    beginning = pattern.path.removesuffix(ALL)
    return pattern.method == route.method and f"{route.label}/".startswith(f"{beginning}/")


def documented_rows() -> Iterator[Endpoint]:
    """Yield the rows of the table."""
    _, _, section = PROTOCOL.read_text("utf-8").partition("\n## Endpoints\n")
    for row in _ROW.finditer(section.partition("\n## ")[0]):
        _, _, what = row["names"].partition("`: ")
        status = re.search(r"answers (\d+)", row["names"])
        for name in _NAME.finditer(row["names"]):
            for path in expand(name["path"]):
                yield Endpoint(
                    name["method"] or ANY,
                    path,
                    row["api"],
                    what.replace("`", ""),
                    row["need"] == "key",
                    row["need"] == "token",
                    1 if row["cost"] else 0,
                    404 if path.startswith(SECRET) else int(status[1]) if status else 200,
                )


def expand(path: str) -> Iterator[str]:
    """Yield `path` with and without each of its parts in square brackets."""
    if part := _OPTIONAL.search(path):
        for text in ("", part[1]):
            yield from expand(path[: part.start()] + text + path[part.end() :])
    else:
        yield path


def rpc(method: str, params: object = None, **headers: str) -> ValidRequest:
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params or {}}
    return post(message, **headers)


def modern(method: str, **params: object) -> ValidRequest:
    headers = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method}
    if named := params.get("name") or params.get("uri"):
        headers["Mcp-Name"] = str(named)
    return rpc(method, {**params, "_meta": META}, **headers)


def post(message: object, **headers: str) -> ValidRequest:
    return ValidRequest("POST", MCP, {**PROTOCOL_HEADERS, **headers}, json.dumps(message).encode())


SEARCHED = {"name": "search_mcp", "arguments": {"keywords": "postgres"}}
DETAILED = {"name": "get_mcp_detail", "arguments": {"mcp_id": POSTGRES_ID}}

REGISTRY = {
    "/servers": "/servers?limit=1",
    "/servers/*/versions": "/servers/io.github.example%2Fmail/versions",
    "/servers/*/versions/{version}": "/servers/io.github.example%2Fmail/versions/latest",
    **{path: path for path in ("/ping", "/health", "/version")},
}
PUBLISH = (
    ("POST", "/publish", "/publish", b"{}"),
    ("POST", "/validate", "/validate", b"{}"),
    ("POST", "/auth/{method}", "/auth/github-at", b'{"github_token":"none"}'),
    ("PUT", "/servers/*/end-of-life", "/servers/a%2Fb/end-of-life", b'{"date":"2027-01-31"}'),
    ("POST", "/servers/*/move", "/servers/a%2Fb/move", b'{"new_name":"a/c"}'),
    ("PATCH", "/servers/*/status", "/servers/a%2Fb/status", b'{"status":"deleted"}'),
    ("PATCH", "/servers/*/versions/{version}/status", "/servers/a%2Fb/versions/1.0.0/status", b'{"status":"deleted"}'),
)
JSON = {"Content-Type": "application/json"}
FORM = {"Content-Type": "application/x-www-form-urlencoded"}

VALID_REQUESTS = {
    **{
        f"{route.method} {route.label}": [
            ValidRequest("POST", route.path, FORM, b"csrf=x")
            if route.method == "POST"
            else ValidRequest("GET", route.path)
        ]
        for route in all_routes()
        if route.api is PAGES
    },
    "GET /api/open/v1/search": [ValidRequest("GET", "/api/open/v1/search?keywords=postgres")],
    "GET /api/open/v1/entries/{mcp_id}": [ValidRequest("GET", f"/api/open/v1/entries/{POSTGRES_ID}")],
    "GET /api/open/v1/changes": [
        ValidRequest("GET", "/api/open/v1/changes"),
        ValidRequest("GET", "/api/open/v1/changes?since=1&keywords=postgres", {"Accept": "text/event-stream"}),
        ValidRequest("GET", "/api/open/v1/changes?since=1", {"Accept": "application/json"}),
    ],
    "POST /api/open/mcp: tools/call, resources/read": [
        rpc("tools/call", SEARCHED),
        rpc("tools/call", DETAILED),
        modern("tools/call", **SEARCHED),
        modern("tools/call", **DETAILED),
        post([{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": SEARCHED}]),
        rpc("resources/read", {"uri": f"directory://entries/{POSTGRES_ID}"}),
        modern("resources/read", uri=f"directory://entries/{POSTGRES_ID}"),
    ],
    "POST /api/open/mcp: everything else": [
        rpc("initialize", {"protocolVersion": "2025-11-25"}),
        rpc("ping"),
        rpc("tools/list"),
        rpc("resources/list"),
        rpc("resources/templates/list"),
        rpc("not/known"),
        modern("server/discover"),
        modern("tools/list"),
        modern("resources/list"),
        modern("subscriptions/listen", notifications={"resourcesListChanged": True}),
        post({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        post([{"jsonrpc": "2.0", "id": 1, "method": "ping"}]),
    ],
    "GET /api/open/mcp": [ValidRequest("GET", MCP)],
    "DELETE /api/open/mcp": [ValidRequest("DELETE", MCP)],
    **{
        f"GET {prefix}/{version}{path}": [ValidRequest("GET", f"{prefix.format(token='x' * 32)}/{version}{tail}")]
        for prefix in ("", "/r/{token}")
        for version in ("v0.1", "v0")
        for path, tail in REGISTRY.items()
    },
    **{
        f"{method} {prefix}/{version}/servers/*/versions/{{version}}": [
            ValidRequest(method, f"{prefix.format(token='x' * 32)}/{version}/servers/a%2Fb/versions/1.0.0")
        ]
        for method in ("PUT", "DELETE")
        for prefix in ("", "/r/{token}")
        for version in ("v0.1", "v0")
    },
    **{
        f"{method} /{version}{path}": [ValidRequest(method, f"/{version}{tail}", JSON, body)]
        for version in ("v0.1", "v0")
        for method, path, tail, body in PUBLISH
    },
    "POST /api/ard/v1/search": [ValidRequest("POST", "/api/ard/v1/search", JSON, b'{"query":{"text":"postgres"}}')],
    "POST /api/ard/v1/explore": [
        ValidRequest("POST", "/api/ard/v1/explore", JSON, b'{"resultType":{"facets":[{"field":"type"}]}}')
    ],
    "GET /api/ard/v1/agents": [ValidRequest("GET", "/api/ard/v1/agents?pageSize=1")],
    "GET /api/ard/v1/agents/{identifier}": [
        ValidRequest("GET", "/api/ard/v1/agents/urn%3Aair%3Aexample.github.io%3Apostgres-mcp")
    ],
    "GET /api/ard/v1/cards/{mcp_id}": [ValidRequest("GET", f"/api/ard/v1/cards/{POSTGRES_ID}")],
    **{
        f"GET {path}": [ValidRequest("GET", path)]
        for path in (
            f"{MCP}/server-card",
            *(f"/.well-known/{name}.json" for name in ("ai-catalog", "ard", "mcp/catalog")),
        )
    },
    **{
        f"GET {prefix}/v0.1/{name}": [ValidRequest("GET", f"{prefix.format(token='x' * 32)}/v0.1/{name}")]
        for prefix in ("", "/r/{token}")
        for name in ("dump.jsonl.gz", "dump.jsonl.gz.sha256", "claude/marketplace.json")
    },
    "GET /servers": [ValidRequest("GET", "/servers")],
    "GET /r/{token}/servers": [ValidRequest("GET", f"/r/{'x' * 32}/servers")],
    "GET /v0.1/claude/plugin.git/info/refs": [
        ValidRequest("GET", "/v0.1/claude/plugin.git/info/refs?service=git-upload-pack")
    ],
    "POST /v0.1/claude/plugin.git/git-upload-pack": [
        ValidRequest("POST", "/v0.1/claude/plugin.git/git-upload-pack", body=b"0009done\n")
    ],
    "GET /api/open/v1/managed-settings/{file}": [ValidRequest("GET", "/api/open/v1/managed-settings/copilot.json")],
    "GET /healthz": [ValidRequest("GET", "/healthz")],
    "GET /readyz": [ValidRequest("GET", "/readyz")],
    "GET /api/open/openapi.json": [ValidRequest("GET", "/api/open/openapi.json")],
    "GET /": [ValidRequest("GET", "/"), ValidRequest("GET", "/?q=postgres")],
    "GET /icons/{mcp_id}": [ValidRequest("GET", f"/icons/{POSTGRES_ID}")],
    "GET /removals": [ValidRequest("GET", "/removals")],
    "GET /feed.atom": [ValidRequest("GET", "/feed.atom"), ValidRequest("GET", "/feed.atom?q=postgres")],
    "GET /publishers/{namespace}": [ValidRequest("GET", "/publishers/io.github.example")],
    "GET /servers/{mcp_id}": [ValidRequest("GET", f"/servers/{POSTGRES_ID}")],
    "GET /servers/{mcp_id}/card": [ValidRequest("GET", f"/servers/{POSTGRES_ID}/card")],
    "GET /servers/{mcp_id}/report": [ValidRequest("GET", f"/servers/{POSTGRES_ID}/report")],
    "GET /servers/{mcp_id}/report/sent": [ValidRequest("GET", f"/servers/{POSTGRES_ID}/report/sent")],
    "POST /servers/{mcp_id}/report": [ValidRequest("POST", f"/servers/{POSTGRES_ID}/report", FORM, b"reason=spam")],
    "GET /docs/*": [ValidRequest("GET", "/docs/operations/back-up")],
    "GET /assets/{name}": [ValidRequest("GET", Assets().path(name)) for name in ("style.css", "script.js", "icon.svg")],
    **{
        f"* /.well-known/{name}": [ValidRequest("GET", f"/.well-known/{name}")]
        for name in ("oauth-protected-resource", f"oauth-protected-resource{MCP}")
    },
    "* /.well-known/*": [ValidRequest("GET", "/.well-known/oauth-authorization-server")],
    "* /api/open/mcp/.well-known/*": [ValidRequest("GET", f"{MCP}/.well-known/openid-configuration")],
    "* /register": [ValidRequest("POST", "/register", PROTOCOL_HEADERS, b"{}"), ValidRequest("GET", "/register")],
}
"""Valid requests for every endpoint of the table. Pages get one without values, unless they have another here."""

ENDPOINTS = {str(endpoint): endpoint for endpoint in endpoints()}


def new_clients(server: Server, subtests: pytest.Subtests) -> Iterator[tuple[Endpoint, str]]:
    """Yield each endpoint, in a subtest, with a new key. The limits of earlier requests are over."""
    for name, endpoint in ENDPOINTS.items():
        server.clock.advance(60)
        with subtests.test(name):
            yield endpoint, server.new_key()[1]


def send(server: Server, request: ValidRequest, *, key: str | None = "") -> bytes:
    """Return the bytes received at once: a response, or the start of a stream."""
    connection = server.open(request.method, request.path, key=key, headers=request.headers, body=request.body)
    response = connection.received()
    connection.close()
    return response


def status(response: bytes) -> int:
    return int(response.split(b" ", 2)[1])


def remaining(server: Server, key: str) -> int:
    return int(server.post({"jsonrpc": "2.0", "id": 1, "method": "ping"}, key=key).headers["X-RateLimit-Remaining"])


def without_key(server: Server, request: ValidRequest) -> Response:
    return parse_response(send(server, request, key=None), request.method)


def test_the_routing_table_is_the_table_of_the_docs() -> None:
    routes = {(route.method or ANY, route.label, route.api.name) for route in all_routes()}
    documented = {(endpoint.method, endpoint.path, endpoint.api) for endpoint in ENDPOINTS.values()}
    assert routes - documented == set(), "docs/protocol.md, table of endpoints: these rows are missing"
    assert documented - routes == set(), "the routes: these routes of docs/protocol.md are missing"


def test_the_router_has_a_rule_for_each_row(server: Server) -> None:
    routed = {
        (rule.rule, method)
        for rule in server.site._routes.rules.iter_rules()
        for method in (rule.methods or {None}) - {"HEAD", "OPTIONS"}
    }
    assert routed == {(route.rule, route.method) for route in all_routes()}


def test_every_endpoint_has_a_valid_request() -> None:
    assert set(ENDPOINTS) - set(VALID_REQUESTS) == set(), "VALID_REQUESTS of this file has no request for these"
    assert set(VALID_REQUESTS) - set(ENDPOINTS) == set(), "VALID_REQUESTS of this file has unknown endpoints"


def test_status_and_cost_are_those_of_the_table(server: Server, subtests: pytest.Subtests) -> None:
    for endpoint, key in new_clients(server, subtests):
        for request in VALID_REQUESTS[str(endpoint)]:
            before = remaining(server, key)
            assert status(send(server, request, key=key)) in (endpoint.status, 202), request
            assert before - remaining(server, key) == endpoint.units, request


def test_a_key_is_required_as_in_the_table(server: Server, subtests: pytest.Subtests) -> None:
    for endpoint, _ in new_clients(server, subtests):
        for request in VALID_REQUESTS[str(endpoint)]:
            response = without_key(server, request)
            assert response.status == (401 if endpoint.keyed else endpoint.status), request
            challenge = 'Bearer realm="MCP directory"' if endpoint.keyed or endpoint.has_token else None
            assert response.headers["WWW-Authenticate"] == challenge, request
            assert response.headers["X-RateLimit-Limit"] is None, request


def test_a_missing_key_has_one_body_per_protocol(server: Server) -> None:
    bodies: dict[str, set[bytes]] = {}
    for name, endpoint in ENDPOINTS.items():
        if endpoint.keyed:
            bodies.setdefault(endpoint.api, set()).update(
                without_key(server, request).body for request in VALID_REQUESTS[name]
            )
            # Requests without a key are limited by address.
            server.clock.advance(60)
    assert bodies.keys() == {"REST", "MCP", "ARD"}
    (rest,), (mcp,), (ard,) = bodies["REST"], bodies["MCP"], bodies["ARD"]
    assert json.loads(rest)["error"] == "unauthorized"
    assert json.loads(ard)["errorCode"] == "UNAUTHENTICATED"
    assert json.loads(mcp)["id"] is None
    assert json.loads(mcp)["error"]["data"] == {"error": "unauthorized"}


def test_head_is_get_without_a_body_or_a_stream(server: Server, subtests: pytest.Subtests) -> None:
    for endpoint, key in new_clients(server, subtests):
        for request in VALID_REQUESTS[str(endpoint)]:
            if request.method == "GET":
                before = remaining(server, key)
                response = server.request("HEAD", request.path, key=key, headers=request.headers)
                assert (response.status, response.body) == (endpoint.status, b"")
                assert before - remaining(server, key) == endpoint.units
                assert len(server.hub) == 0


def test_options_needs_no_key_and_names_the_method(server: Server, subtests: pytest.Subtests) -> None:
    for endpoint, _ in new_clients(server, subtests):
        if endpoint.method != ANY:
            response = without_key(server, ValidRequest("OPTIONS", VALID_REQUESTS[str(endpoint)][0].path))
            assert response.status == 204
            assert endpoint.method in response.headers["Allow"].split(", ")
