"""Accounts that register by themselves, at real servers that share a data directory."""

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


@frozen
class Page:
    status: int
    headers: HTTPMessage
    text: str


@define
class Visitor:
    """A browser that goes to any of several servers of one name, and fills in the forms of the last page."""

    cookie: str = ""
    csrf: str = ""
    secrets: list[str] = field(factory=list)

    def request(self, server: Server, path: str, **fields: str) -> Page:
        """GET a page, or POST a form if there are `fields`."""
        headers = {"Host": "directory.example.org", "Accept": "text/html", "Cookie": self.cookie}
        body = None
        if fields:
            body = urlencode({"csrf": self.csrf, **fields})
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        with closing(HTTPConnection("127.0.0.1", server.port, timeout=TIMEOUT)) as connection:
            connection.request("POST" if fields else "GET", path, body, headers)
            with connection.getresponse() as response:
                page = Page(response.status, response.headers, response.read().decode())
        for each in page.headers.get_all("Set-Cookie") or ():
            self.cookie = each.partition(";")[0]
        if found := re.search(r'name="csrf" value="([^"]*)"', page.text):
            self.csrf = found[1]
        return page

    def make_key(self, making: Server, showing: Server) -> str:
        """Create a key at one server and look at its secret at another."""
        self.request(making, "/account/keys")
        place = self.request(making, "/account/keys", label="laptop").headers["Location"]
        page = self.request(showing, place)
        assert page.status == 200, page.text
        (secret,) = set(re.findall(r"mcpd_\w{38}", page.text))
        for server in (making, showing):
            assert self.request(server, place).status == 410
        return str(secret)


def register(server: Server, email: str) -> tuple[Visitor, int]:
    visitor = Visitor()
    visitor.request(server, "/account/register")
    return visitor, visitor.request(server, "/account/register", email=email, password=PASSWORD).status


def test_a_new_account_has_one_quota_and_shows_each_secret_once_in_all_processes(installation: Installation) -> None:
    installation.command("quickstart")
    with ExitStack() as stack:
        first, second = (
            stack.enter_context(
                installation.serve(*OPEN, "--set", "http.allowed_hosts=directory.example.org,127.0.0.1")
            )
            for _ in range(2)
        )
        ann, status = register(first, "ann@example.org")
        assert status == 303
        one, two = ann.make_key(first, second), ann.make_key(second, first)
        answers = [
            server.search("github", key).status for _ in range(6) for server in (first, second) for key in (one, two)
        ]
        assert (answers.count(200), answers.count(401)) == (20, 4)
        installation.command("account", "approve", "ann@example.org")
        until(lambda: second.search("github", two).status == 200, "the approval")
        assert [register(first, f"{number}@example.org")[1] for number in range(4)] == [303, 303, 429, 429]
        for server in (first, second):
            assert "Traceback" not in server.stop()


def test_a_server_deletes_accounts_that_nobody_used(installation: Installation) -> None:
    installation.command("account", "add", "old@example.org")
    installation.command("account", "add", "kept@example.org")
    with closing(sqlite3.connect(installation.data / "directory.db")) as connection, connection:
        connection.execute("UPDATE account SET approved_at = NULL, created_at = 0 WHERE email = 'old@example.org'")

    def emails() -> list[str]:
        return re.findall(r"^\S+@\S+", installation.command("account", "list"), re.MULTILINE)

    assert emails() == ["old@example.org", "kept@example.org"]
    with installation.serve(*OPEN) as server:
        until(lambda: emails() == ["kept@example.org"], "the deletion")
        log = server.stop()
    assert "Deleted 1 unused accounts that were not approved" in log
    assert "Traceback" not in log
