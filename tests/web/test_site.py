"""Site: Host and Origin checks, body limit, access log."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from attrs import evolve
from twisted.internet.defer import CancelledError, Deferred
from twisted.python.failure import Failure

from directory_server.domain.errors import Unavailable
from directory_server.web.origins import Origins

from ..logs import captured_lines
from .conftest import Connection, Server, parse_response

if TYPE_CHECKING:
    from directory_server.http import Request

SEARCH = "/api/open/v1/search?keywords=postgres"


@pytest.fixture
def lines() -> Iterator[list[str]]:
    """Return the list of all log lines."""
    with captured_lines() as lines:
        yield lines


@pytest.mark.parametrize("host", ["localhost", "localhost:8080", "LOCALHOST"])
def test_allowed_hosts(server: Server, host: str) -> None:
    assert server.get(SEARCH, headers={"Host": host}).status == 200


def test_hosts_are_compared_without_case_and_port() -> None:
    origins = Origins(["Directory.Example.org:443", "[::1]"], frozenset())
    for host in ("directory.example.org", "DIRECTORY.example.org:8443", "[::1]:80"):
        origins.check(host, None)


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "127.0.0.1.nip.io"])
def test_hosts_that_are_not_allowed(server: Server, host: str) -> None:
    response = server.get(SEARCH, headers={"Host": host})
    assert (response.status, response.json["error"]) == (403, "forbidden_host")
    assert response.json["message"] == (
        f"The Host {host!r} is not allowed. The operator can allow it with the setting http.allowed_hosts."
    )


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
@pytest.mark.parametrize(
    "head",
    [
        " HTTP/1.1\r\nHost: 10.244.0.5:8080",
        " HTTP/1.1\r\nHost: evil.example",
        " HTTP/1.1\r\nHost: ",
        " HTTP/1.1\r\nHost: [2001:db8::1]:8080\r\nOrigin: https://evil.example",
        " HTTP/1.1\r\nHost: localhost\r\nOrigin: null",
        " HTTP/1.0",
        " HTTP/1.0\r\nHost: evil.example\r\nConnection: keep-alive",
        "?check=1 HTTP/1.0",
    ],
)
def test_health_is_checked_by_any_name(server: Server, path: str, head: str) -> None:
    connection = Connection(server.site)
    connection.send(f"GET {path}{head}\r\n\r\n".encode())
    response = parse_response(connection.received())
    assert (response.status, response.headers["Access-Control-Allow-Origin"]) == (200, None)
    connection.close()


def test_mcp_errors_before_dispatch_are_json_rpc(server: Server) -> None:
    response = server.post({"jsonrpc": "2.0", "id": 1, "method": "ping"}, headers={"Origin": "https://evil.example"})
    assert (response.status, response.json["id"], response.json["error"]["code"]) == (403, None, -32600)


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("http://localhost", 200),
        ("https://app.example.org", 200),
        ("http://app.example.org", 403),
        ("https://evil.example", 403),
        ("http://localhost:9", 403),
        ("null", 403),
        ("http://[", 403),
        ("\xff", 403),
    ],
)
def test_allowed_origins(server: Server, origin: str, status: int) -> None:
    response = server.get(SEARCH, headers={"Origin": origin})
    assert response.status == status
    allowed = "https://app.example.org"
    assert response.headers["Access-Control-Allow-Origin"] == (allowed if origin == allowed else None)


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("//healthz", "/healthz"),
        ("/healthz/", "/healthz"),
        ("///healthz//?a=//b/", "/healthz?a=//b/"),
        ("//api/open/mcp", "/api/open/mcp"),
        ("/api//open///mcp/", "/api/open/mcp"),
        ("//api/open/v1/search?keywords=a", "/api/open/v1/search?keywords=a"),
        ("//v0.1/servers/a/b/versions/", "/v0.1/servers/a/b/versions"),
        ("//", "/"),
        ("//account/sign-in", "/account/sign-in"),
        ("/servers//00000000-0000-5000-8000-000000000000", "/servers/00000000-0000-5000-8000-000000000000"),
    ],
)
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST"])
def test_doubled_and_final_slashes_are_redirected(server: Server, method: str, path: str, target: str) -> None:
    response = server.request(method, path, key=None)
    assert (response.status, response.headers["Location"]) == (308, target)


@pytest.mark.parametrize(
    "path",
    ["/none/", "//none", "//evil.example/", "//evil.example//healthz", "/\\evil.example", "//\\evil.example/healthz",
     "//%5cevil.example", "//api/open/", "/api/open/v1/entries//", "/..//healthz", "x//healthz"],
)  # fmt: skip
def test_a_redirect_leads_to_a_route_only(server: Server, path: str) -> None:
    response = server.get(path, key=None)
    assert (response.status in {400, 404}, response.headers["Location"]) == (True, None)


def test_a_preflight_request_needs_no_key(server: Server) -> None:
    headers = {"Origin": "https://app.example.org", "Access-Control-Request-Method": "POST"}
    response = server.request("OPTIONS", "/api/open/mcp", key=None, headers=headers)
    assert response.status == 204
    assert "POST" in str(response.headers["Access-Control-Allow-Methods"])
    assert "Authorization" in str(response.headers["Access-Control-Allow-Headers"])


def test_the_log_has_one_line_per_request_and_no_key(server: Server, lines: list[str]) -> None:
    server.get(SEARCH)
    server.get(f"/api/open/v1/search?keywords=a&key={server.key}", key=None)
    server.get(f"/api/open/v1/entries/{server.key}")
    server.get(f"/{server.key}", key=None)
    server.get(SEARCH, key=server.key[:-1])
    assert len(lines) == 5
    assert not any(server.key[:-1] in line or "postgres" in line for line in lines)
    assert lines[0].startswith("GET /api/open/v1/search 200 ")
    assert f" key={server.key_id} " in lines[0]
    assert " key=- " in lines[4]
    assert [line.split()[1] for line in lines[2:4]] == ["/api/open/v1/entries/{mcp_id}", "-"]


def test_a_stream_is_logged_once_when_it_opens(server: Server, lines: list[str]) -> None:
    stream = server.open("GET", "/api/open/mcp")
    assert [line.split(" B ")[0] for line in lines] == ["GET /api/open/mcp 200 0"]
    stream.close()
    assert len(lines) == 1


class WaitingHandler:
    """A handler that waits twice for `waiting`, and records how it ends."""

    def __init__(self, server: Server) -> None:
        self.waiting: Deferred[bytes] = Deferred()
        self.errors: list[type[Exception]] = []
        exact = server.site._exact
        exact[b"GET", b"/healthz"] = evolve(exact[b"GET", b"/healthz"], handler=self)

    async def __call__(self, request: Request) -> bytes:
        try:
            await self._next()
            return await self._next()
        except Exception as error:
            self.errors.append(type(error))
            raise

    async def _next(self) -> bytes:
        self.waiting = Deferred()
        return await self.waiting


def test_a_handler_that_waits_is_answered_when_it_returns(server: Server, lines: list[str]) -> None:
    handler = WaitingHandler(server)
    connection = server.open("GET", "/healthz")
    for body in (b"first", b"second"):
        assert connection.received() == b""
        handler.waiting.callback(body)
    response = parse_response(connection.received())
    assert (response.status, response.body, handler.errors) == (200, b"second", [])
    assert len(lines) == 1


def test_a_client_that_disconnects_cancels_its_handler(server: Server, lines: list[str]) -> None:
    handler = WaitingHandler(server)
    connection = server.open("GET", "/healthz")
    handler.waiting.callback(b"first")
    connection.close()
    assert handler.errors == [CancelledError]
    assert connection.received() == b""
    assert len(lines) == 1


def test_an_error_that_a_handler_waited_for_is_answered(server: Server) -> None:
    handler = WaitingHandler(server)
    connection = server.open("GET", "/healthz")
    handler.waiting.errback(Failure(Unavailable("The disk is full.")))
    response = parse_response(connection.received())
    assert (response.status, response.json["message"]) == (503, "The disk is full.")
    assert handler.errors == [Unavailable]


def test_requests_of_one_connection_wait_for_a_handler_that_waits(server: Server) -> None:
    handler = WaitingHandler(server)
    connection = server.open("GET", "/healthz")
    connection.send(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n")
    handler.waiting.callback(b"first")
    assert connection.received() == b""
    handler.waiting.callback(b"second")
    assert connection.received().count(b"HTTP/1.1 200 OK") == 2
