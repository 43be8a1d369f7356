"""Real proxies, configured as docs/operations.md tells it, before a real server."""

from __future__ import annotations

import json
import re
import shutil
import socket
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from http.client import HTTPResponse, HTTPSConnection
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

from ._certificates import certificate
from .conftest import MCP, SEARCH, TIMEOUT, Installation, Response, Server, environment, until

pytestmark = pytest.mark.process

DOCUMENT = Path(__file__).parents[2] / "docs" / "operations.md"
FAILURES = 3


def documented(language: str) -> str:
    """Return the configuration that the documentation gives for a proxy."""
    found = re.search(rf"^```{language}\n(.*?)^```", DOCUMENT.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    assert found
    return found[1]


def changed(text: str, changes: dict[str, str]) -> str:
    """Return `text` with what is different in a test put in; each must be there."""
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    return text


def nginx(folder: Path, pem: Path, ours: int, port: int) -> list[object]:
    places = {
        "listen 443 ": f"listen 127.0.0.1:{port} ",
        "127.0.0.1:8080": f"127.0.0.1:{ours}",
        "/etc/ssl/certs/directory.pem": str(pem),
        "/etc/ssl/private/directory.pem": str(pem),
        "/var/log/nginx/": f"{folder}/",
    }
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    temporary = "".join(f"{kind}_temp_path {folder}/{kind};" for kind in kinds)
    file = folder / "nginx.conf"
    file.write_text(
        f"daemon off; master_process off; pid {folder}/pid; error_log {folder}/error.log; events {{}}\n"
        f"http {{ {temporary}\n{changed(documented('nginx'), places)}}}\n"
    )
    return ["nginx", "-p", folder, "-c", file]


def haproxy(folder: Path, pem: Path, ours: int, port: int) -> list[object]:
    places = {
        "bind :443 ": f"bind 127.0.0.1:{port} ",
        "127.0.0.1:8080": f"127.0.0.1:{ours}",
        "/etc/ssl/private/directory.pem": str(pem),
        "/dev/log local0": "stdout format raw local0",
    }
    file = folder / "haproxy.cfg"
    file.write_text(changed(documented("haproxy"), places))
    return ["haproxy", "-db", "-f", file]


def caddy(folder: Path, pem: Path, ours: int, port: int) -> list[object]:
    places = {
        "directory.example.org {": f"https://localhost:{port} {{\n    bind 127.0.0.1\n    tls {pem} {pem}",
        "127.0.0.1:8080": f"127.0.0.1:{ours}",
    }
    file = folder / "Caddyfile"
    file.write_text("{\n    admin off\n    auto_https disable_redirects\n}\n" + changed(documented("caddy"), places))
    return ["caddy", "run", "--adapter", "caddyfile", "--config", file]


PROXIES = {"nginx": nginx, "haproxy": haproxy, "caddy": caddy}


@frozen
class Proxied:
    """A server behind a proxy."""

    name: str
    port: int
    trusting: ssl.SSLContext
    installation: Installation
    server: Server
    folder: Path

    def open(
        self, path: str, headers: dict[str, str], body: bytes | None = None, source: str = "127.0.0.1"
    ) -> HTTPResponse:
        """Send a request to the proxy from an address of this machine; return the response, its head read."""
        connection = HTTPSConnection(
            "localhost", self.port, timeout=TIMEOUT, context=self.trusting, source_address=(source, 0)
        )
        connection.request("GET" if body is None else "POST", path, body, headers)
        return connection.getresponse()

    def request(
        self, path: str, headers: dict[str, str], body: bytes | None = None, source: str = "127.0.0.1"
    ) -> Response:
        with self.open(path, headers, body, source) as response:
            return Response(response.status, response.headers, response.read())

    def new_key(self, **headers: str) -> dict[str, str]:
        """Return headers with a new key among them."""
        return {"Authorization": f"Bearer {self.installation.new_key()}", **headers}


@pytest.fixture(scope="module")
def behind(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Installation, Server]]:
    """Return a server that trusts its proxy to tell whom a request is from."""
    installation = Installation(tmp_path_factory.mktemp("behind"))
    installation.command("quickstart")
    settings = [
        "http.trusted_proxies=127.0.0.1",
        "http.allowed_hosts=localhost",
        "web.hsts=60",
        f"http.failed_keys={FAILURES}",
        f"streams.heartbeat={10 * TIMEOUT}",
    ]
    with installation.serve(*(text for each in settings for text in ("--set", each))) as server:
        yield installation, server
        assert "Traceback" not in server.stop()


INSTALLED = [
    pytest.param(
        name,
        marks=pytest.mark.skipif(
            not shutil.which(name), reason=f"{name} is not installed: what docs/operations.md says of it is not tested"
        ),
    )
    for name in PROXIES
]


@pytest.fixture(scope="module", params=INSTALLED)
def proxied(request: Any, behind: tuple[Installation, Server], tmp_path_factory: Any) -> Iterator[Proxied]:
    """Return each of the proxies that are installed here, with the server behind it."""
    folder = tmp_path_factory.mktemp(request.param)
    pem = certificate(folder)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = PROXIES[request.param](folder, pem, behind[1].port, port)
    log = folder / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [str(part) for part in command],
            env=environment(HOME=str(folder), XDG_DATA_HOME=str(folder), XDG_CONFIG_HOME=str(folder)),
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )

    def answers() -> bool:
        assert process.poll() is None, log.read_text()
        with suppress(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port)).close()
            return True
        return False

    try:
        until(answers, f"the start of {request.param}")
        yield Proxied(request.param, port, ssl.create_default_context(cafile=str(pem)), *behind, folder)
    finally:
        process.terminate()
        process.wait(TIMEOUT)


def test_both_doors_are_open(proxied: Proxied) -> None:
    key = proxied.new_key()
    found = proxied.request(f"{SEARCH}?keywords=postgres", key)
    assert (found.status, found.json["count"] > 0) == (200, True)
    assert found.headers["X-RateLimit-Remaining"] == "19"
    assert found.headers["X-Request-Id"]
    params = {"name": "search_mcp", "arguments": {"keywords": "postgres"}}
    message = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()
    called = proxied.request(MCP, {"Content-Type": "application/json", **key}, message)
    assert called.json["result"]["isError"] is False


def test_the_first_event_of_a_stream_comes_at_once(proxied: Proxied) -> None:
    # A proxy that buffers would hold the event back until the next heartbeat, for which this client does not wait.
    with proxied.open(MCP, proxied.new_key(Accept="text/event-stream")) as stream:
        assert stream.status == 200
        assert (stream.readline(), stream.readline()) == (b"retry: 3000\n", b"\n")


def test_a_revoked_key_ends_its_stream_at_the_other_end(proxied: Proxied) -> None:
    with proxied.open(MCP, proxied.new_key(Accept="text/event-stream")) as stream:
        proxied.installation.command("key", "revoke", proxied.installation.key_ids()[-1])
        assert stream.read() == b"retry: 3000\n\n" * 2


def test_a_body_that_is_too_long_is_refused(proxied: Proxied) -> None:
    refused = proxied.request(MCP, proxied.new_key(), b" " * 100_000)
    assert refused.status == 413
    assert refused.json["error"]["message"] == "The body must have at most 65,536 bytes."


def test_a_body_that_is_far_too_long_is_refused_by_one_or_the_other(proxied: Proxied) -> None:
    assert proxied.request(MCP, proxied.new_key(), b" " * 300_000).status == 413


def test_a_target_that_is_too_long_is_refused(proxied: Proxied) -> None:
    refused = proxied.request(f"{SEARCH}?keywords={'a' * 9_000}", proxied.new_key())
    assert (refused.status, refused.json["error"]) == (414, "uri_too_long")


def test_a_throttled_address_is_that_of_the_client_whatever_it_claims(proxied: Proxied) -> None:
    # Each proxy has clients of its own, for the server is the same.
    number = 2 + 2 * list(PROXIES).index(proxied.name)
    bad, other = f"127.0.0.{number}", f"127.0.0.{number + 1}"

    def guess(source: str, claimed: int) -> int:
        claims = {"X-Forwarded-For": f"10.0.0.{claimed}", "Forwarded": f"for=10.0.0.{claimed}"}
        headers = {"Authorization": "Bearer nonsense", **claims}
        return proxied.request(f"{SEARCH}?keywords=a", headers, source=source).status

    assert [guess(bad, claimed) for claimed in range(FAILURES + 2)] == [401] * FAILURES + [429] * 2
    assert guess(other, 0) == 401
    assert proxied.request(f"{SEARCH}?keywords=a", proxied.new_key(), source=bad).status == 200


def test_pages_are_known_to_come_by_tls(proxied: Proxied) -> None:
    page = proxied.request("/account/sign-in", {"Accept": "text/html", "X-Forwarded-Proto": "http"})
    assert page.status == 200
    assert page.headers["Set-Cookie"].startswith("__Host-session=")
    assert "; Secure" in page.headers["Set-Cookie"]
    assert page.headers["Strict-Transport-Security"] == "max-age=60"


def test_the_proxys_log_has_requests_without_their_secrets(proxied: Proxied) -> None:
    secrets = [f"{proxied.name}{number}" * 8 for number in range(3)]
    proxied.request(f"/r/{secrets[0]}/v0.1/servers?limit=1", {})
    proxied.request(f"/account/invitation/{secrets[1]}", {"Accept": "text/html"})
    # What nginx refuses by itself is in its log of errors.
    proxied.request(f"/r/{secrets[2]}", {}, b" " * 300_000)
    # A browser names the page that an asset is for.
    proxied.request("/healthz", proxied.new_key(Referer=f"https://localhost/account/invitation/{secrets[1]}"))

    def logged() -> str:
        return "".join(each.read_text() for each in proxied.folder.glob("*log*") if each.is_file())

    until(lambda: "/healthz" in logged(), "the line of the last request")
    assert "/r/-" in logged()
    assert "/account/invitation/-" in logged()
    assert not any(secret in logged() for secret in secrets)
