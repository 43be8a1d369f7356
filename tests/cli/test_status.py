"""`directory-server status` of servers with TLS, and with names that the Host header must have."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from ..process._certificates import certificate
from ._http_server import http_server
from .conftest import CommandLine

HOST = "directory.example.org"


class Answers(BaseHTTPRequestHandler):
    """Answers as a server that is starting, or that allows HOST only."""

    def do_GET(self) -> None:
        if self.headers["Host"] != HOST:
            self._send(403, {"error": "forbidden_host"})
        elif self.path == "/healthz":
            self._send(200, {"status": "ok", "version": "1.2.3"})
        else:
            self._send(503, {"status": "unavailable", "reasons": ["index"]})

    def _send(self, code: int, value: Any) -> None:
        body = json.dumps(value).encode()
        self.send_response(code)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: Any) -> None:
        """Write nothing."""


@pytest.fixture
def serving() -> Iterator[Callable[..., int]]:
    """Return a function that starts a server and returns its port."""
    with ExitStack() as stack:
        yield lambda pem=None: stack.enter_context(http_server(Answers, pem))


def state(directory: CommandLine, listen: str, *settings: str) -> str:
    options = [each for setting in (f"listen={listen}", *settings) for each in ("--set", setting)]
    return str(json.loads(directory.succeed(*options, "status", "--json"))["server"]["state"])


def test_the_request_names_an_allowed_host(directory: CommandLine, serving: Callable[..., int]) -> None:
    listen = f"tcp:{serving()}:interface=127.0.0.1"
    allowed = f"http.allowed_hosts={HOST},localhost"
    assert state(directory, listen, allowed) == "not ready: index, version 1.2.3"
    assert state(directory, listen) == "answers with the status 403"


def test_a_certificate_with_the_public_name_only_is_accepted(
    directory: CommandLine, serving: Callable[..., int], tmp_path: Path
) -> None:
    pem = certificate(tmp_path)
    listen = f"ssl:{serving(pem)}:privateKey={pem}:interface=127.0.0.1"
    assert state(directory, listen, f"http.allowed_hosts={HOST}") == "not ready: index, version 1.2.3"
