"""Browsers in memory, and fixtures of accounts that are signed in."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from typing import Any, TypeAlias
from urllib.parse import urlencode

import pytest

from directory_server.domain.accounts import Account
from directory_server.runtime.run_sync import run_sync

from .conftest import Connection, Response, Server, parse_response

SEARCH = "/api/open/v1/search?keywords=postgres"

PASSWORD = "correct horse battery"
ANN = "ann@example.org"
OPERATOR = "operator@example.org"
AUDITOR = "auditor@example.org"

_ERROR = re.compile(r'id="form-error" data-code="([^"]*)"')
_CSRF = re.compile(r'name="csrf" value="([^"]*)"')
_SECRET = re.compile(r"mcpd_[0-9A-Za-z]{38}")


class Browser:
    """Stores cookies and submits the forms of the current page."""

    def __init__(self, server: Server, address: str = "127.0.0.1", **headers: str) -> None:
        self._server = server
        self._address = address
        self.headers = {"Host": "localhost", "Accept": "text/html", **headers}
        self.cookies: dict[str, str] = {}
        self.page = ""

    def request(self, method: str, path: str, *, body: bytes = b"", headers: dict[str, str] | None = None) -> Response:
        head = {**self.headers, **(headers or {})}
        if self.cookies:
            head.setdefault("Cookie", "; ".join(f"{name}={value}" for name, value in self.cookies.items()))
        if body:
            head["Content-Length"] = str(len(body))
        lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in head.items()), "", ""]
        connection = Connection(self._server.site, self._address)
        connection.send("\r\n".join(lines).encode("latin-1") + body)
        response = parse_response(connection.received(), method)
        connection.close()
        for cookie in response.headers.get_all("Set-Cookie") or ():
            name, _, rest = cookie.partition("=")
            value, *attributes = rest.split(";")
            self.cookies[name] = value
            if any(attribute.strip().lower() == "max-age=0" for attribute in attributes):
                del self.cookies[name]
        if response.body:
            self.page = response.body.decode()
        return response

    def get(self, path: str, **headers: str) -> Response:
        return self.request("GET", path, headers=headers)

    def post(self, path: str, fields: dict[str, str] | None = None, **headers: str) -> Response:
        """Send a form with the CSRF token of the current page."""
        return self.raw(path, urlencode({"csrf": self.csrf, **(fields or {})}).encode(), **headers)

    def raw(self, path: str, body: bytes, **headers: str) -> Response:
        kind = {"Content-Type": "application/x-www-form-urlencoded", "Origin": f"http://{self.headers['Host']}"}
        return self.request("POST", path, body=body, headers={**kind, **headers})

    @property
    def csrf(self) -> str:
        found = _CSRF.search(self.page)
        return str(found[1]) if found else ""

    @property
    def text(self) -> str:
        """The approximate visible text of the page."""
        return " ".join(unescape(re.sub(r"<[^>]*>", " ", self.page)).split())

    @property
    def secret(self) -> str:
        """The key on the page."""
        found = set(_SECRET.findall(self.page))
        assert len(found) == 1, found
        return str(found.pop())

    def submit(self, path: str, fields: dict[str, str] | None = None, **headers: str) -> str:
        """Send a form, follow its redirect, if there is one, and return the code of the error on the page."""
        response = self.post(path, fields, **headers)
        if response.status == 303:
            assert self.follow(response).status in (200, 303), self.text
        else:
            assert response.status >= 400, self.text
            assert self.error, self.text
        return self.error

    @property
    def error(self) -> str:
        """The code of the error on the page, "" if there is none."""
        found = _ERROR.search(self.page)
        return str(found[1]) if found else ""

    def try_sign_in(self, email: str = ANN, password: str = PASSWORD, **more: str) -> str:
        """Sign in; return the code of the error, "" if there is none."""
        self.get("/account/sign-in")
        return self.submit("/account/sign-in", {"email": email, "password": password, **more})

    def sign_in(self, email: str = ANN, password: str = PASSWORD, **more: str) -> Response:
        self.get("/account/sign-in")
        return self.post("/account/sign-in", {"email": email, "password": password, **more})

    def create_key(self, label: str = "laptop", expires: str = "never") -> str:
        self.get("/account/keys")
        assert self.follow(self.post("/account/keys", {"label": label, "expires": expires})).status == 200, self.text
        return self.secret

    def follow(self, response: Response) -> Response:
        """Follow a redirect."""
        assert response.status == 303, self.text
        return self.get(response.headers["Location"])


Open: TypeAlias = Callable[..., Browser]


@pytest.fixture
def browser(server: Server) -> Browser:
    """Return a browser without a session."""
    return Browser(server)


def key_of(server: Server, account: Account) -> str:
    """Return the id of the only key of an account that is not revoked."""
    (key,) = [key for key in run_sync(server.keys.list(account.id)) if key.revoked_at is None]
    return key.id


def account_of(server: Server, email: str = ANN) -> Account:
    """Create an account with a password."""
    return run_sync(server.accounts.add(email, f"hash of {PASSWORD}"))


@pytest.fixture
def ann(server: Server) -> Account:
    return account_of(server)


@pytest.fixture
def member(server: Server, ann: Account) -> Browser:
    """Return a browser in which Ann is signed in."""
    browser = Browser(server)
    assert browser.sign_in().status == 303
    return browser


def invite(server: Server, email: str = ANN) -> str:
    """Return the path of an invitation."""
    account = run_sync(server.accounts.add(email))
    return f"/account/invitation/{run_sync(server.accounts.link(account.id, lifetime=3600))}"


def rename(server: Server, old: str, new: str) -> None:
    """Give an account an address that is not accepted any more."""
    run_sync(
        server.application.storage.tables.run("UPDATE account SET email = :new WHERE email = :old", new=new, old=old)
    )


def set_cookies(response: Response) -> list[str]:
    cookies: list[Any] = response.headers.get_all("Set-Cookie") or []
    return cookies


@pytest.fixture
def operator_account(server: Server) -> Account:
    account = account_of(server, OPERATOR)
    run_sync(server.accounts.set_role(account.id, "operator"))
    return account


@pytest.fixture
def auditor(server: Server) -> Browser:
    """Return a browser in which an auditor is signed in."""
    account = account_of(server, AUDITOR)
    run_sync(server.accounts.set_role(account.id, "auditor"))
    browser = Browser(server)
    assert browser.sign_in(AUDITOR).status == 303
    return browser


@pytest.fixture
def operator(server: Server, operator_account: Account) -> Browser:
    """Return a browser in which an operator is signed in."""
    browser = Browser(server)
    assert browser.sign_in(OPERATOR).status == 303
    return browser
