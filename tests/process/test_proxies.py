"""Reverse proxies, configured as in docs/operations.md, in front of a server process."""

from __future__ import annotations

import json
import re
import shutil
import socket
import ssl
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from http.client import HTTPConnection, HTTPResponse, HTTPSConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from attrs import frozen

from ..ports import free_port
from ._certificates import certificate
from .conftest import MCP, SEARCH, TIMEOUT, Installation, Response, Server, environment, run_command, until

pytestmark = pytest.mark.process

DOCUMENT = Path(__file__).parents[2] / "docs" / "operations.md"
FAILURES = 3


def documented_configuration(language: str) -> str:
    """Return the code block of `language` in docs/operations.md."""
    found = re.search(rf"^```{language}\n(.*?)^```", DOCUMENT.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    assert found
    return found[1]


def replaced(text: str, changes: Mapping[str, str]) -> str:
    """Return `text` with `changes` applied; each of them must apply."""
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    return text


Changes = Mapping[str, str]


def nginx(folder: Path, pem: Path, ours: int, port: int, plain: int, mistakes: Changes) -> list[object]:
    changes = {
        "listen 80;": f"listen 127.0.0.1:{plain};",
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
        f"http {{ {temporary}\n{replaced(documented_configuration('nginx'), {**mistakes, **changes})}}}\n"
    )
    return ["nginx", "-p", folder, "-c", file]


def haproxy(folder: Path, pem: Path, ours: int, port: int, plain: int, mistakes: Changes) -> list[object]:
    changes = {
        "bind :80\n": f"bind 127.0.0.1:{plain}\n",
        "bind :443 ": f"bind 127.0.0.1:{port} ",
        "127.0.0.1:8080": f"127.0.0.1:{ours}",
        "/etc/ssl/private/directory.pem": str(pem),
        "/dev/log local0": "stdout format raw local0",
    }
    file = folder / "haproxy.cfg"
    file.write_text(replaced(documented_configuration("haproxy"), {**mistakes, **changes}))
    return ["haproxy", "-db", "-f", file]


def caddy(folder: Path, pem: Path, ours: int, port: int, plain: int, mistakes: Changes) -> list[object]:
    changes = {
        "directory.example.org {": f"https://localhost:{port} {{\n    bind 127.0.0.1\n    tls {pem} {pem}",
        "127.0.0.1:8080": f"127.0.0.1:{ours}",
    }
    file = folder / "Caddyfile"
    options = f"{{\n    admin off\n    http_port {plain}\n    https_port {port}\n    default_bind 127.0.0.1\n}}\n"
    file.write_text(options + replaced(documented_configuration("caddy"), {**mistakes, **changes}))
    return ["caddy", "run", "--adapter", "caddyfile", "--config", file]


PROXIES = {"nginx": nginx, "haproxy": haproxy, "caddy": caddy}

# Typical mistakes in the configuration, all at once.
MISTAKES: dict[str, Changes] = {
    "nginx": {
        "client_max_body_size 128k;": "client_max_body_size 1k; proxy_intercept_errors on; error_page 404 /404.html;",
        "proxy_set_header X-Forwarded-Proto $scheme;": "add_header Access-Control-Allow-Origin * always;",
    },
    "haproxy": {
        "http-request set-header X-Forwarded-Proto %[ssl_fc,iif(https,http)]": "\n    ".join(
            [
                "http-request deny deny_status 413 if { req.hdr_val(content-length) gt 1000 }",
                "http-request deny deny_status 404 if { path_beg /.well-known/oauth }",
                "http-response add-header Access-Control-Allow-Origin *",
            ]
        ),
    },
    "caddy": {
        "reverse_proxy 127.0.0.1:8080": "request_body {\n        max_size 1KB\n    }\n"
        "    respond /.well-known/oauth* 404\n"
        "    reverse_proxy 127.0.0.1:8080 {\n        header_up X-Forwarded-Proto http\n"
        "        header_down +Access-Control-Allow-Origin *\n    }",
    },
}


@frozen
class Proxied:
    """A server behind a proxy."""

    name: str
    port: int
    plain: int
    context: ssl.SSLContext
    installation: Installation
    server: Server
    folder: Path
    pem: Path

    def problems(self) -> set[str]:
        """Return the codes of the problems that `client-check` finds."""
        key = self.folder / "key"
        key.write_text(self.installation.new_key())
        options = ("--data-dir", self.installation.data, "client-check", "--url", f"https://localhost:{self.port}")
        result = run_command(
            *options, "--key-file", key, "--json", cwd=self.folder, env=environment(SSL_CERT_FILE=str(self.pem))
        )
        return {row["code"] for row in json.loads(result.stdout) if row["level"] == "problem"}

    def open(
        self, path: str, headers: dict[str, str], body: bytes | None = None, source: str = "127.0.0.1"
    ) -> HTTPResponse:
        """Send a request to the proxy from the address `source`; return the response with its body unread."""
        connection = HTTPSConnection(
            "localhost", self.port, timeout=TIMEOUT, context=self.context, source_address=(source, 0)
        )
        connection.request("GET" if body is None else "POST", path, body, headers)
        return connection.getresponse()

    def request(
        self, path: str, headers: dict[str, str], body: bytes | None = None, source: str = "127.0.0.1"
    ) -> Response:
        with self.open(path, headers, body, source) as response:
            return Response(response.status, response.headers, response.read())

    def new_key(self, **headers: str) -> dict[str, str]:
        """Return `headers` with the Authorization of a new key."""
        return {"Authorization": f"Bearer {self.installation.new_key()}", **headers}


@pytest.fixture(scope="module")
def server_behind_proxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Installation, Server]]:
    """Return a server that trusts the client addresses of a proxy on 127.0.0.1."""
    installation = Installation(tmp_path_factory.mktemp("server"))
    installation.command("quickstart")
    settings = [
        "http.trusted_proxies=127.0.0.1",
        "http.allowed_hosts=localhost",
        "web.hsts=60",
        "registry.access=public",
        "ard.access=public",
        f"http.failed_keys={FAILURES}",
        f"streams.heartbeat={10 * TIMEOUT}",
    ]
    with installation.serve(*(text for each in settings for text in ("--set", each))) as server:
        yield installation, server
        server.stop()


INSTALLED = [
    pytest.param(
        name,
        marks=pytest.mark.skipif(
            not shutil.which(name),
            reason=f"{name} is not installed: its documented configuration is not tested",
        ),
    )
    for name in PROXIES
]


@contextmanager
def run_proxy(
    name: str, server: tuple[Installation, Server], folder: Path, mistakes: Changes | None = None
) -> Iterator[Proxied]:
    """Run a proxy, configured as documented but for `mistakes`, in front of a server."""
    pem = certificate(folder)
    port, plain = free_port(), free_port()
    command = PROXIES[name](folder, pem, server[1].port, port, plain, mistakes or {})
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

    def accepts_connections() -> bool:
        assert process.poll() is None, log.read_text()
        with suppress(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port)).close()
            return True
        return False

    try:
        until(accepts_connections, f"the start of {name}")
        yield Proxied(name, port, plain, ssl.create_default_context(cafile=str(pem)), *server, folder, pem)
    finally:
        process.terminate()
        process.wait(TIMEOUT)


@pytest.fixture(scope="module", params=INSTALLED)
def proxied(request: Any, server_behind_proxy: tuple[Installation, Server], tmp_path_factory: Any) -> Iterator[Proxied]:
    """Return each installed proxy, with the server behind it."""
    with run_proxy(request.param, server_behind_proxy, tmp_path_factory.mktemp(request.param)) as proxy:
        yield proxy


def test_rest_and_mcp_requests_pass(proxied: Proxied) -> None:
    key = proxied.new_key()
    search = proxied.request(f"{SEARCH}?keywords=postgres", key)
    assert (search.status, search.json["count"] > 0) == (200, True)
    assert search.headers["X-RateLimit-Remaining"] == "19"
    assert search.headers["X-Request-Id"]
    params = {"name": "search_mcp", "arguments": {"keywords": "postgres"}}
    message = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()
    called = proxied.request(MCP, {"Content-Type": "application/json", **key}, message)
    assert called.json["result"]["isError"] is False


def test_first_event_of_a_stream_is_not_buffered(proxied: Proxied) -> None:
    # A proxy that buffers would hold the event back until the next heartbeat, for which this client does not wait.
    with proxied.open(MCP, proxied.new_key(Accept="text/event-stream")) as stream:
        assert stream.status == 200
        assert (stream.readline(), stream.readline()) == (b": \n", b"\n")


def test_stream_of_a_revoked_key_ends_at_the_client(proxied: Proxied) -> None:
    with proxied.open(MCP, proxied.new_key(Accept="text/event-stream")) as stream:
        proxied.installation.command("key", "revoke", proxied.installation.key_ids()[-1])
        assert stream.read() == b": \n\nretry: 3000\n\n"


def test_server_rejects_a_long_body(proxied: Proxied) -> None:
    rejected = proxied.request(MCP, proxied.new_key(), b" " * 100_000)
    assert rejected.status == 413
    assert rejected.json["error"]["message"] == "The body must have at most 65,536 bytes."


def test_proxy_or_server_rejects_a_very_long_body(proxied: Proxied) -> None:
    assert proxied.request(MCP, proxied.new_key(), b" " * 300_000).status == 413


def test_long_target_is_rejected(proxied: Proxied) -> None:
    rejected = proxied.request(f"{SEARCH}?keywords={'a' * 9_000}", proxied.new_key())
    assert (rejected.status, rejected.json["error"]) == (414, "uri_too_long")


def test_rate_limit_uses_the_client_address_and_ignores_claimed_ones(proxied: Proxied) -> None:
    # Each proxy has its own client addresses, because all share one server.
    number = 2 + 2 * list(PROXIES).index(proxied.name)
    bad, other = f"127.0.0.{number}", f"127.0.0.{number + 1}"

    def guess(source: str, claimed: int) -> int:
        claims = {"X-Forwarded-For": f"10.0.0.{claimed}", "Forwarded": f"for=10.0.0.{claimed}"}
        headers = {"Authorization": "Bearer nonsense", **claims}
        return proxied.request(f"{SEARCH}?keywords=a", headers, source=source).status

    assert [guess(bad, claimed) for claimed in range(FAILURES + 2)] == [401] * FAILURES + [429] * 2
    assert guess(other, 0) == 401
    assert proxied.request(f"{SEARCH}?keywords=a", proxied.new_key(), source=bad).status == 200


def test_pages_behind_tls_have_secure_cookies_and_hsts(proxied: Proxied) -> None:
    page = proxied.request("/account/sign-in", {"Accept": "text/html", "X-Forwarded-Proto": "http"})
    assert page.status == 200
    assert page.headers["Set-Cookie"].startswith("__Host-session=")
    assert "; Secure" in page.headers["Set-Cookie"]
    assert page.headers["Strict-Transport-Security"] == "max-age=60"


def test_requests_without_tls_are_redirected(proxied: Proxied) -> None:
    connection = HTTPConnection("localhost", proxied.plain, timeout=TIMEOUT, source_address=("127.0.0.1", 0))
    connection.request("GET", f"{SEARCH}?keywords=a%20b", headers={"Host": "localhost"})
    with connection.getresponse() as response:
        assert response.status in (301, 308)
        target = urlsplit(response.headers["Location"])
    # The test's port of TLS is not 443. Only Caddy knows it.
    assert (target.scheme, target.hostname, target.path, target.query) == (
        "https",
        "localhost",
        SEARCH,
        "keywords=a%20b",
    )


def test_proxy_log_contains_no_secrets_of_paths(proxied: Proxied) -> None:
    secrets = [f"{proxied.name}{number}" * 8 for number in range(3)]
    proxied.request(f"/r/{secrets[0]}/v0.1/servers?limit=1", {})
    proxied.request(f"/account/invitation/{secrets[1]}", {"Accept": "text/html"})
    # nginx writes requests that it rejects itself to its error log.
    proxied.request(f"/r/{secrets[2]}", {}, b" " * 300_000)
    # A browser sends the page of an asset as Referer.
    proxied.request("/healthz", proxied.new_key(Referer=f"https://localhost/account/invitation/{secrets[1]}"))

    def logged() -> str:
        return "".join(each.read_text() for each in proxied.folder.glob("*log*") if each.is_file())

    until(lambda: "/healthz" in logged(), "the line of the last request")
    assert "/r/-" in logged()
    assert "/account/invitation/-" in logged()
    assert not any(secret in logged() for secret in secrets)


def test_clients_have_no_problem_with_a_documented_configuration(proxied: Proxied) -> None:
    assert proxied.problems() == set()


@pytest.mark.parametrize("name", INSTALLED)
def test_client_check_names_the_mistakes_of_a_configuration(
    name: str, server_behind_proxy: tuple[Installation, Server], tmp_path: Path
) -> None:
    with run_proxy(name, server_behind_proxy, tmp_path, MISTAKES[name]) as proxy:
        assert proxy.problems() == {"body", "cors_twice", "proxy", "url"}
