"""Site: Host and Origin checks, body limit, access log."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ..logs import captured_lines
from .conftest import Connection, Server, parse_response

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
    from directory_server.web.origins import Origins

    origins = Origins(["Directory.Example.org:443", "[::1]"], frozenset())
    for host in ("directory.example.org", "DIRECTORY.example.org:8443", "[::1]:80"):
        origins.check(host, None)


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "127.0.0.1.nip.io"])
def test_hosts_that_are_not_allowed(server: Server, host: str) -> None:
    response = server.get(SEARCH, headers={"Host": host})
    assert (response.status, response.json["error"]) == (403, "forbidden_host")


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


def test_a_preflight_request_needs_no_key(server: Server) -> None:
    headers = {"Origin": "https://app.example.org", "Access-Control-Request-Method": "POST"}
    response = server.request("OPTIONS", "/api/open/mcp", key=None, headers=headers)
    assert response.status == 204
    assert "POST" in str(response.headers["Access-Control-Allow-Methods"])
    assert "Authorization" in str(response.headers["Access-Control-Allow-Headers"])


def test_a_body_above_the_limit_is_rejected(server: Server) -> None:
    connection = Connection(server.site)
    connection.send(b"POST /api/open/mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
    for _ in range(100):
        connection.send(b"400\r\n" + b"x" * 0x400 + b"\r\n")
    connection.send(b"0\r\n\r\n")
    assert parse_response(connection.received()).status == 413


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
