"""The fake issuer as a process, and browsers that sign in with it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from http.client import HTTPConnection
from ipaddress import ip_network
from pathlib import Path
from socket import create_connection
from typing import Any
from urllib.parse import urlsplit

from attrs import frozen

from ..ports import free_port
from .browser import Browser, Page
from .conftest import TIMEOUT, Installation, Server, environment, until
from .fake_issuer import REALM

VERIFIED = {"email": "Ann@example.org", "email_verified": True, "groups": ["staff"]}


@frozen
class FakeIssuer:
    """A running issuer."""

    port: int

    path: str = REALM

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}{self.path}"

    def set(self, **state: Any) -> Any:
        """Change what the issuer does."""
        return self._request("PUT", "/control", json.dumps(state))

    def token(self, audience: str, kind: str = "at+jwt", **claims: Any) -> str:
        """Return an access token that may read."""
        signed = {"aud": audience, "scope": "mcp-registry:read", **claims}
        return str(self.set(sign=[signed, kind])["token"])

    def requests(self) -> list[str]:
        return list(self._request("GET", "/control")["requests"])

    def answer(self, url: str, form: str | None = None) -> str:
        """Follow a redirect to the issuer, and send a form of its page.

        Return the URL to which it redirects the browser back.
        """
        headers = {} if form is None else {"Content-Type": "application/x-www-form-urlencoded"}
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT)) as connection:
            path = url.removeprefix(f"http://127.0.0.1:{self.port}")
            connection.request("GET" if form is None else "POST", path, form, headers)
            return connection.getresponse().headers["Location"] or ""

    def _request(self, method: str, path: str, body: str | None = None) -> Any:
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT)) as connection:
            connection.request(method, path, body)
            return json.loads(connection.getresponse().read())


@contextmanager
def run_issuer() -> Iterator[FakeIssuer]:
    """Run the issuer."""
    port = free_port()
    script = Path(__file__).with_name("fake_issuer.py")
    with subprocess.Popen(
        [sys.executable, script, str(port)], env=environment(), stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            yield FakeIssuer(port)
        finally:
            process.kill()


@contextmanager
def run_provider(**claims: object) -> Iterator[FakeIssuer]:
    """Run the OpenID Connect server of the package oidc-provider-mock, with one person."""
    port = free_port()
    script = Path(sys.executable).with_name("oidc-provider-mock")
    command = [str(script), "-p", str(port), "-n", "true", "--user-claims", json.dumps(claims)]
    with subprocess.Popen(command, env=environment(), stderr=subprocess.DEVNULL) as process:
        try:
            until(lambda: _is_listening(port), "the provider listens")
            yield FakeIssuer(port, "")
        finally:
            process.kill()


def _is_listening(port: int) -> bool:
    with suppress(OSError), create_connection(("127.0.0.1", port), 1):
        return True
    return False


@contextmanager
def serve_with(
    installation: Installation, issuer: FakeIssuer, *options: object, settings: str = ""
) -> Iterator[Server]:
    """Run a server with the issuer `fake`, for sign-in and access tokens. `settings` are added to its table."""
    port = free_port()
    file = installation.folder / "server.toml"
    (installation.folder / "secret").write_text("s3cret/+=\n")
    file.write_text(f"""
        [http]
        allowed_hosts = ["127.0.0.1", "directory.example.org"]
        trusted_proxies = ["127.0.0.1"]
        [web]
        url = "http://127.0.0.1:{port}"
        [[sign_in.issuer]]
        name = "fake"
        title = "Fake"
        url = "{issuer.url}"
        client_id = "directory"
        client_secret_file = "{installation.folder / "secret"}"
        tokens = true
        {settings}
    """)
    listen = f"tcp:{port}:interface=127.0.0.1"
    with installation.serve("-c", file, *options, listen=listen) as server:
        yield server


_addresses = map(str, ip_network("198.18.0.0/15").hosts())


def new_browser(cookies: Mapping[str, str] | None = None) -> Browser:
    """Return a browser with an address of its own, as responses of issuers are limited by address."""
    return Browser(dict(cookies or {}), address=next(_addresses))


def start(browser: Browser, server: Server, name: str = "fake", back: str = "/account/keys") -> str:
    """Begin a sign-in; return the URL of the issuer."""
    page = browser.request(server, f"/account/sign-in/{name}?next={back}")
    assert page.status == 303, page.text
    return page.headers["Location"] or ""


def finish(browser: Browser, server: Server, url: str) -> Page:
    """Send the response of the issuer, to which it has redirected the browser."""
    parts = urlsplit(url)
    return browser.request(server, f"{parts.path}?{parts.query}")


def sign_in(browser: Browser, server: Server, issuer: FakeIssuer, back: str = "/account/keys") -> str:
    """Sign in; return the path to which the server redirects."""
    page = finish(browser, server, issuer.answer(start(browser, server, back=back)))
    assert page.status == 303, page.text
    return page.headers["Location"] or ""


def error_of(browser: Browser, server: Server, page: Page) -> str:
    """Return the code of the error on the sign-in page behind a redirect."""
    shown = browser.request(server, page.headers["Location"] or "")
    return shown.text.partition('data-code="')[2].partition('"')[0]
