"""Accounts that register by themselves, on servers that share a data directory."""

from __future__ import annotations

import re
import sqlite3
from contextlib import ExitStack, closing
from http.client import HTTPConnection, HTTPMessage
from urllib.parse import urlencode

import pytest
from attrs import define, field, frozen

from .conftest import TIMEOUT, Installation, Server, until

pytestmark = pytest.mark.process

OPEN = ["--set", "accounts.registration=open"]
PASSWORD = "correct horse battery"
KEYS = "/account/keys"


@frozen
class Page:
    """A page and its response headers."""

    status: int
    headers: HTTPMessage
    text: str


@define
class Browser:
    """A browser, whose cookies all servers accept; it sends the CSRF token of the last page.

    A proxy sends the address, if there is one.
    """

    cookies: dict[str, str] = field(factory=dict)
    csrf: str = ""
    address: str = ""

    def request(self, server: Server, path: str, **fields: str) -> Page:
        """GET the page at `path`, or POST a form if there are `fields`."""
        cookie = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        headers = {"Host": "directory.example.org", "Accept": "text/html", "Cookie": cookie}
        if self.address:
            headers["X-Forwarded-For"] = self.address
        body = None
        if fields:
            body = urlencode({"csrf": self.csrf, **fields})
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        with closing(HTTPConnection("127.0.0.1", server.port, timeout=TIMEOUT)) as connection:
            connection.request("POST" if fields else "GET", path, body, headers)
            with connection.getresponse() as response:
                page = Page(response.status, response.headers, response.read().decode())
        for each in page.headers.get_all("Set-Cookie") or ():
            name, _, value = each.partition(";")[0].partition("=")
            self.cookies[name] = value
        if found := re.search(r'name="csrf" value="([^"]*)"', page.text):
            self.csrf = found[1]
        return page

    def create_key(self, creator: Server, viewer: Server) -> str:
        """Create a key on one server and return its secret from the page of another, which shows it once."""
        self.request(creator, "/account/keys")
        path = self.request(creator, "/account/keys", label="laptop").headers["Location"]
        page = self.request(viewer, path)
        assert page.status == 200, page.text
        (secret,) = set(re.findall(r"mcpd_\w{38}", page.text))
        for server in (creator, viewer):
            assert self.request(server, path).status == 410
        return str(secret)


def register(server: Server, email: str) -> tuple[Browser, str]:
    """Register an account; return its browser, and the path of the next page: the keys, or the form with an error."""
    browser = Browser()
    browser.request(server, "/account/register")
    page = browser.request(server, "/account/register", email=email, password=PASSWORD)
    assert page.status == 303, page.text
    return browser, page.headers["Location"]


def test_pending_account_has_one_quota_and_shows_each_secret_once_across_processes(installation: Installation) -> None:
    installation.command("quickstart")
    with ExitStack() as stack:
        first, second = (
            stack.enter_context(
                installation.serve(*OPEN, "--set", "http.allowed_hosts=directory.example.org,127.0.0.1")
            )
            for _ in range(2)
        )
        ann, path = register(first, "ann@example.org")
        assert path == KEYS
        one, two = ann.create_key(first, second), ann.create_key(second, first)
        statuses = [
            server.search("github", key).status for _ in range(6) for server in (first, second) for key in (one, two)
        ]
        assert (statuses.count(200), statuses.count(401)) == (20, 4)
        installation.command("account", "approve", "ann@example.org")
        until(lambda: second.search("github", two).status == 200, "the approval")
        assert [register(first, f"{number}@example.org")[1] for number in range(4)] == [
            KEYS,
            KEYS,
            "/account/register",
            "/account/register",
        ]
        for server in (first, second):
            assert "Traceback" not in server.stop()


def test_server_deletes_unused_pending_accounts(installation: Installation) -> None:
    installation.command("account", "add", "old@example.org")
    installation.command("account", "add", "used@example.org")
    with closing(sqlite3.connect(installation.data / "directory.db")) as connection, connection:
        connection.execute("UPDATE account SET approved_at = NULL, created_at = 0 WHERE email = 'old@example.org'")

    def emails() -> list[str]:
        return re.findall(r"^\S+@\S+", installation.command("account", "list"), re.MULTILINE)

    assert emails() == ["old@example.org", "used@example.org"]
    with installation.serve(*OPEN) as server:
        until(lambda: emails() == ["used@example.org"], "the deletion")
        log = server.stop()
    assert "Deleted without approval: 1 unused account" in log
    assert "Traceback" not in log
