"""Compare the routes of the server with the table of endpoints in docs/protocol.md."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from attrs import field, frozen

from directory_server.web.pages import Assets

from .conftest import POSTGRES_ID, PROTOCOL_HEADERS, Answer, Server, read

PROTOCOL = Path(__file__).parents[2] / "docs" / "protocol.md"
MCP = "/api/open/mcp"
ANY = "*"

_ROW = re.compile(r"\| (?P<names>.*?) \| (?P<key>yes|no) \| (?P<units>\d+) \|")
_NAME = re.compile(r"`(?:(?P<method>[A-Z]+) )?(?P<path>/[^`]*)`")
_MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


@frozen
class Door:
    """A row of the table: what is let in, whether it needs a key, what it costs, the status it answers with."""

    method: str
    path: str
    what: str
    keyed: bool
    units: int
    status: int

    def __str__(self) -> str:
        return f"{self.method} {self.path}{self.what and ': ' + self.what}"


@frozen
class Ask:
    """A request that is valid at a door."""

    method: str
    path: str
    headers: dict[str, str] = field(factory=dict)
    body: bytes = b""


def doors() -> Iterator[Door]:
    _, _, section = PROTOCOL.read_text("utf-8").partition("\n## Endpoints\n")
    for row in _ROW.finditer(section.partition("\n## ")[0]):
        _, _, what = row["names"].partition("`: ")
        status = re.search(r"answers (\d+)", row["names"])
        for name in _NAME.finditer(row["names"]):
            yield Door(
                name["method"] or ANY,
                name["path"],
                what.replace("`", ""),
                row["key"] == "yes",
                int(row["units"]),
                int(status[1]) if status else 200,
            )


def rpc(method: str, params: object = None, **headers: str) -> Ask:
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params or {}}
    return post(message, **headers)


def modern(method: str, **params: object) -> Ask:
    headers = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method}
    if named := params.get("name") or params.get("uri"):
        headers["Mcp-Name"] = str(named)
    return rpc(method, {**params, "_meta": _MODERN}, **headers)


def post(message: object, **headers: str) -> Ask:
    return Ask("POST", MCP, {**PROTOCOL_HEADERS, **headers}, json.dumps(message).encode())


SEARCHED = {"name": "search_mcp", "arguments": {"keywords": "postgres"}}
DETAILED = {"name": "get_mcp_detail", "arguments": {"mcp_id": POSTGRES_ID}}

REGISTRY = {
    "/servers": "/servers?limit=1",
    "/servers/*/versions": "/servers/io.github.example%2Fmail/versions",
    "/servers/*/versions/{version}": "/servers/io.github.example%2Fmail/versions/latest",
}
FORM = {"Content-Type": "application/x-www-form-urlencoded"}

ASKED = {
    "GET /api/open/v1/search": [Ask("GET", "/api/open/v1/search?keywords=postgres")],
    "GET /api/open/v1/entries/{mcp_id}": [Ask("GET", f"/api/open/v1/entries/{POSTGRES_ID}")],
    "GET /api/open/v1/changes": [
        Ask("GET", "/api/open/v1/changes"),
        Ask("GET", "/api/open/v1/changes?since=1&keywords=postgres", {"Accept": "text/event-stream"}),
        Ask("GET", "/api/open/v1/changes?since=1", {"Accept": "application/json"}),
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
    "GET /api/open/mcp": [Ask("GET", MCP)],
    "DELETE /api/open/mcp": [Ask("DELETE", MCP)],
    **{
        f"GET {prefix}/{version}{path}": [Ask("GET", f"{prefix.format(token='x' * 32)}/{version}{asked}")]
        for prefix in ("", "/r/{token}")
        for version in ("v0.1", "v0")
        for path, asked in REGISTRY.items()
    },
    "GET /healthz": [Ask("GET", "/healthz")],
    "GET /readyz": [Ask("GET", "/readyz")],
    "GET /api/open/openapi.json": [Ask("GET", "/api/open/openapi.json")],
    "GET /": [Ask("GET", "/"), Ask("GET", "/?q=postgres")],
    "GET /servers/{mcp_id}": [Ask("GET", f"/servers/{POSTGRES_ID}")],
    "GET /news": [Ask("GET", "/news")],
    "GET /assets/{name}": [Ask("GET", Assets().path(name)) for name in ("style.css", "script.js", "icon.svg")],
    **{
        f"{method} /account/{path}": [
            Ask(method, f"/account/{path}", FORM if method == "POST" else {}, b"csrf=x" if method == "POST" else b"")
        ]
        for method, path in [
            *(("GET", path) for path in ("sign-in", "register", "keys", "connect", "password")),
            *(("POST", path) for path in ("sign-in", "register", "keys", "password", "sign-out", "connect/test")),
            *((method, "invitation/{token}") for method in ("GET", "POST")),
            *((method, "keys/{key_id}/revoke") for method in ("GET", "POST")),
            *((method, "keys/{key_id}/rotate") for method in ("GET", "POST")),
            ("GET", "keys/{key_id}/secret"),
        ]
    },
    "* /.well-known/*": [Ask("GET", "/.well-known/oauth-protected-resource/api/open/mcp")],
    "* /api/open/mcp/.well-known/*": [Ask("GET", f"{MCP}/.well-known/openid-configuration")],
    "* /register": [Ask("POST", "/register", PROTOCOL_HEADERS, b"{}"), Ask("GET", "/register")],
}
"""Valid requests for every door of the table."""

DOORS = {str(door): door for door in doors()}
EACH_DOOR = pytest.mark.parametrize("door", DOORS.values(), ids=str)


def send(server: Server, ask: Ask, *, key: str | None = "") -> bytes:
    """Return what comes back at once, be it whole or the beginning of a stream."""
    connection = server.open(ask.method, ask.path, key=key, headers=ask.headers, body=ask.body)
    answer = connection.received()
    connection.lose()
    return answer


def status(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1])


def remaining(server: Server) -> int:
    return int(server.post({"jsonrpc": "2.0", "id": 1, "method": "ping"}).headers["X-RateLimit-Remaining"])


def without_key(server: Server, ask: Ask) -> Answer:
    return read(send(server, ask, key=None), ask.method)


def test_the_routing_table_is_the_table_of_the_docs() -> None:
    from directory_server.web.routes import ROUTES

    assert {(route.method or ANY, route.label) for route in ROUTES} == {
        (door.method, door.path) for door in DOORS.values()
    }


def test_the_router_has_a_rule_for_each_row(server: Server) -> None:
    from directory_server.web.routes import ROUTES

    routed = {
        (rule.rule, method)
        for rule in server.site._routes.app.url_map.iter_rules()
        for method in (rule.methods or {None}) - {"HEAD", "OPTIONS"}
    }
    assert routed == {(route.rule, route.method) for route in ROUTES}


def test_every_door_is_asked_at() -> None:
    assert set(ASKED) == set(DOORS)


@EACH_DOOR
def test_a_door_answers_and_costs_what_the_table_says(server: Server, door: Door) -> None:
    for ask in ASKED[str(door)]:
        before = remaining(server)
        assert status(send(server, ask)) in (door.status, 202), ask
        assert before - remaining(server) == door.units, ask


@EACH_DOOR
def test_a_door_asks_for_a_key_if_the_table_says_so(server: Server, door: Door) -> None:
    for ask in ASKED[str(door)]:
        answer = without_key(server, ask)
        assert answer.status == (401 if door.keyed else door.status), ask
        assert answer.headers["WWW-Authenticate"] == ('Bearer realm="MCP directory"' if door.keyed else None), ask
        assert answer.headers["X-RateLimit-Limit"] is None, ask


def test_each_protocol_refuses_a_missing_key_with_one_body(server: Server) -> None:
    bodies: dict[bool, set[bytes]] = {True: set(), False: set()}
    for name, door in DOORS.items():
        if door.keyed:
            bodies[door.path == MCP].update(without_key(server, ask).body for ask in ASKED[name])
    ((mcp,), (rest,)) = bodies[True], bodies[False]
    assert json.loads(rest)["error"] == "unauthorized"
    assert json.loads(mcp)["id"] is None
    assert json.loads(mcp)["error"]["data"] == {"error": "unauthorized"}


@EACH_DOOR
def test_head_is_get_without_a_body_or_a_stream(server: Server, door: Door) -> None:
    for ask in ASKED[str(door)]:
        if ask.method == "GET":
            before = remaining(server)
            answer = server.ask("HEAD", ask.path, headers=ask.headers)
            assert (answer.status, answer.body) == (door.status, b"")
            assert before - remaining(server) == door.units
            assert len(server.hub) == 0


@EACH_DOOR
def test_options_needs_no_key_and_names_the_method(server: Server, door: Door) -> None:
    if door.method != ANY:
        answer = without_key(server, Ask("OPTIONS", ASKED[str(door)][0].path))
        assert answer.status == 204
        assert door.method in answer.headers["Allow"].split(", ")
