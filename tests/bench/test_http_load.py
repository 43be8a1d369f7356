"""The HTTP load generator and its requests."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import repeat
from pathlib import Path
from threading import Thread

import pytest

from bench.clients.http_load import Settings, restore, run, save
from bench.clients.http_requests import MCP_PATH, REST_PATH, Credentials, rest_requests, tool_calls


class Handler(BaseHTTPRequestHandler):
    """Responds with 404 to a search for "nothing", closes after a search for "close"."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        body = b'{"path": "%b"}' % self.path.encode()
        self.send_response(404 if "nothing" in self.path else 200)
        self.send_header("Content-Length", str(len(body)))
        if "close" in self.path:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


class Server(ThreadingHTTPServer):
    """Ignores clients that reset their connections."""

    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        pass


@pytest.fixture
def port() -> Iterator[int]:
    with Server(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


def settings(port: int, warm: int = 5, seconds: float = 60.0) -> Settings:
    return Settings(port, [os.getpid()], warm, connections=4, seconds=seconds)


def test_requests_after_the_warm_up_are_measured(port: int) -> None:
    outcome = run(rest_requests("/", ["a"] * 20, repeat(Credentials())), settings(port))
    assert (outcome.requests, outcome.failed) == (15, 0)
    assert outcome.first == '{"path": "/?keywords=a"}'
    assert outcome.size == len(outcome.first)
    assert 0 <= outcome.p50 <= outcome.p99


def test_failed_responses_are_counted(port: int) -> None:
    queries = ["a"] * 10 + ["nothing"] * 3 + ["a"] * 7
    assert run(rest_requests("/", queries, repeat(Credentials())), settings(port)).failed == 3


def test_no_request_starts_after_the_time(port: int) -> None:
    outcome = run(rest_requests("/", ["a"] * 2_000, repeat(Credentials())), settings(port, seconds=0))
    # The connections that wait for a response when the measurement starts.
    assert outcome.requests <= 5


def test_server_that_closes_connections_is_an_error(port: int) -> None:
    with pytest.raises(ConnectionResetError, match="closes connections"):
        run(rest_requests("/", ["close"] * 20, repeat(Credentials())), settings(port))


def test_requests_are_restored_from_a_file(tmp_path: Path) -> None:
    requests = [b"GET / HTTP/1.1\r\n\r\n", b"", b"\0" * 300]
    save(requests, tmp_path / "requests")
    assert list(restore(tmp_path / "requests")) == requests


def test_rest_request_has_the_query_and_the_key() -> None:
    (request,) = rest_requests(REST_PATH, ["send mail"], repeat(Credentials("secret")))
    lines = request.decode().split("\r\n")
    assert lines[0] == f"GET {REST_PATH}?keywords=send+mail HTTP/1.1"
    assert "Authorization: Bearer secret" in lines
    assert lines[-2:] == ["", ""]


@pytest.mark.parametrize("modern", [False, True])
def test_tool_call_has_the_session_and_a_body_of_its_length(modern: bool) -> None:
    (request,) = tool_calls(MCP_PATH, ["mail"], repeat(Credentials(session="s1")), modern=modern)
    head, _, body = request.partition(b"\r\n\r\n")
    assert b"Mcp-Session-Id: s1" in head
    assert b"Content-Length: %d" % len(body) in head
    message = json.loads(body)
    assert message["params"]["arguments"] == {"keywords": "mail"}
    assert ("_meta" in message["params"]) is modern
    assert (b"Mcp-Name: search_mcp" in head) is modern
