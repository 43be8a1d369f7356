"""Security of the account pages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from directory_server.domain.accounts import Account
from directory_server.runtime.run_sync import run_sync

from ...logs import captured_lines
from ..browsers import rename
from ..conftest import Server
from .conftest import ANN, PASSWORD, Browser, account_of, invite, set_cookies

POSTS = [
    *("/account/sign-in", "/account/sign-out", "/account/password", "/account/keys", "/account/delete"),
    *("/account/sessions/end-others", "/account/sessions/0123456789abcdef/end", "/account/keys/abcdefgh/rename"),
    *("/account/keys/abcdefgh/rotate", "/account/keys/abcdefgh/revoke", "/account/connect/test"),
]
HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>&amp;{{7*7}}"


@pytest.fixture
def logged() -> Iterator[list[str]]:
    """Return the list of all log lines."""
    with captured_lines() as lines:
        yield lines


def test_forms_without_a_valid_csrf_token_are_rejected(
    server: Server, ann: Account, member: Browser, subtests: pytest.Subtests
) -> None:
    other = Browser(server)
    other.get("/account/sign-in")
    for path, token in product(POSTS, ["", "csrf=", "csrf=wrong", f"csrf={other.csrf}", "csrf=é"]):
        server.clock.advance(60)
        with subtests.test(path, token=token):
            body = f"{token}&label=x&old={PASSWORD}&password=another+long+password&confirmed=yes"
            assert member.raw(path, body.encode("latin-1")).status in (400, 403)
            assert member.get("/account/keys").status == 200
            assert list(run_sync(server.keys.list(ann.id))) == []
    assert Browser(server).try_sign_in() == ""


FOREIGN = (
    {"Origin": "https://evil.example"},
    {"Origin": "null"},
    # An origin that may call the API.
    {"Origin": "https://app.example.org"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
)


def test_forms_of_other_origins_are_rejected(server: Server, member: Browser, subtests: pytest.Subtests) -> None:
    for path, headers in product(POSTS, FOREIGN):
        server.clock.advance(60)
        with subtests.test(path, **headers):
            member.get("/account/keys")
            assert member.post(path, {"label": "x"}, **headers).status == 403
            assert member.get("/account/keys").status == 200


def test_forms_without_the_session_cookie_are_rejected(server: Server, ann: Account, browser: Browser) -> None:
    browser.get("/account/sign-in")
    token = browser.csrf
    browser.cookies.clear()
    response = browser.raw("/account/sign-in", f"csrf={token}&email={ANN}&password={PASSWORD}".encode())
    assert response.status == 403
    assert browser.cookies == {}


def test_sign_in_prevents_session_fixation(server: Server, ann: Account, browser: Browser) -> None:
    attacker = Browser(server)
    attacker.get("/account/sign-in")
    browser.cookies = dict(attacker.cookies)
    browser.sign_in()
    assert browser.cookies["session"] != attacker.cookies["session"]
    assert attacker.get("/account/keys").status == 303
    for chosen in ("chosen-by-an-attacker", ".", ""):
        fixed = Browser(server)
        fixed.cookies = {"session": chosen}
        fixed.sign_in()
        assert fixed.cookies["session"] != chosen
        assert fixed.get("/account/keys").status == 200


@pytest.mark.parametrize(
    "place",
    [
        *("https://evil.example", "//evil.example", "/\\evil.example", "\\\\evil.example", "/\t/evil.example"),
        *("/\n/evil.example", "javascript:alert(1)", "evil", "", "/ /evil.example", "/é"),
    ],
)
def test_sign_in_does_not_redirect_to_other_sites(server: Server, ann: Account, browser: Browser, place: str) -> None:
    response = browser.sign_in(next=place)
    assert (response.status, response.headers["Location"]) == (303, "/account/keys")


@given(st.text(alphabet=st.sampled_from("/\\.:@?#%ae \t\r\n\x00é"), max_size=12))
def test_local_path_returns_only_paths_of_this_site(place: str) -> None:
    from directory_server.web.account._requests import local_path

    found = local_path(place, "/default")
    assert re.match(r"/(?![/\\])", found)
    assert not re.search(r"[\s\\\x00]", found)


def test_sign_in_does_not_reveal_whether_an_account_exists(server: Server, ann: Account) -> None:
    disabled = account_of(server, "bob@example.org")
    run_sync(server.accounts.disable(disabled.id))
    run_sync(server.accounts.add("invited@example.org"))
    pages, calls = set(), []
    for email in (ANN, "nobody@example.org", "bob@example.org", "invited@example.org", "no address"):
        server.passwords.verified.clear()
        browser = Browser(server)
        assert browser.try_sign_in(email, "wrong password") == "sign_in_refused"
        pages.add(browser.page.replace(email, "").replace(browser.csrf, ""))
        calls.append(len(server.passwords.verified))
    assert len(pages) == 1
    # The slow password check runs once for each of them, so the timing is equal.
    assert calls == [1] * 5


@pytest.mark.parametrize(
    ("address", "headers", "secure"),
    [
        ("127.0.0.1", {}, False),
        ("127.0.0.1", {"X-Forwarded-Proto": "https"}, False),
        ("10.0.0.1", {"X-Forwarded-Proto": "http"}, False),
        ("10.0.0.1", {"X-Forwarded-Proto": "https"}, True),
    ],
)
def test_cookie_attributes_follow_the_connection(
    server: Server, ann: Account, address: str, headers: dict[str, str], secure: bool
) -> None:
    browser = Browser(server, address, **headers)
    response = browser.sign_in()
    (cookie,) = set_cookies(response)
    name, *attributes = cookie.split("; ")
    assert name.partition("=")[0] == ("__Host-session" if secure else "session")
    assert {each.lower() for each in attributes} == {
        "path=/",
        "httponly",
        "samesite=lax",
        "max-age=604800",
        *(["secure"] if secure else []),
    }


def test_a_secure_cookie_sent_without_tls_ends_the_session(server: Server, ann: Account) -> None:
    secure = Browser(server, "10.0.0.1", **{"X-Forwarded-Proto": "https"})
    secure.sign_in()
    assert secure.get("/account/keys").status == 200
    leaking = Browser(server)
    leaking.cookies = dict(secure.cookies)
    assert leaking.get("/account/keys").status == 303
    assert secure.get("/account/keys").status == 303


def test_session_cookies_do_not_authenticate_api_requests(member: Browser) -> None:
    for path in ("/api/open/v1/search?keywords=postgres", "/api/open/v1/changes", "/api/open/mcp"):
        assert member.get(path).status == 401
    assert (
        member.request("POST", "/api/open/mcp", body=b"{}", headers={"Content-Type": "application/json"}).status == 401
    )


def test_user_input_is_escaped(server: Server, browser: Browser) -> None:
    path = invite(server, "mallory@example.org")
    rename(server, "mallory@example.org", "<script>alert(1)</script>\"'@example.org")
    browser.headers["User-Agent"] = HOSTILE
    browser.get(path)
    pages = [browser.page]
    browser.post(path, {"password": PASSWORD})
    browser.get("/account/keys")
    browser.post("/account/keys", {"label": HOSTILE})
    pages.append(browser.page)
    browser.get("/account/keys")
    pages.append(browser.page)
    key_id = re.search(r"/account/keys/(\w+)/revoke", browser.page)
    assert key_id
    browser.get(f"/account/keys/{key_id[1]}/revoke")
    pages.append(browser.page)
    browser.get("/account/keys")
    browser.post("/account/keys", {"label": HOSTILE + "\n"})
    pages.append(browser.page)
    other = Browser(server)
    other.sign_in(HOSTILE, "wrong")
    pages.append(other.page)
    for page in pages:
        assert not re.search(
            r"<script(?! src=\"/assets/)|<img src=x|onerror=alert\(1\)>(?!&)", page.replace("&gt;", "")
        )
        assert "49" not in re.findall(r"\{\{.*?\}\}|49(?=</)", page)
    assert HOSTILE in unescape(pages[2])


def test_secrets_are_not_logged(server: Server, browser: Browser, logged: list[str]) -> None:
    path = invite(server)
    browser.get(path)
    browser.post(path, {"password": PASSWORD})
    secret = browser.create_key()
    browser.post("/account/connect/test", {"key": secret})
    browser.post("/account/connect/test", {"key": secret[:-1]})
    browser.sign_in(password="wrong password")
    log_text = "\n".join(logged)
    assert "POST /account/invitation/{token} 303" in log_text
    for hidden in (path.rpartition("/")[2], PASSWORD, "wrong password", secret[:-1], browser.cookies["session"], ANN):
        assert hidden not in log_text


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (b"csrf=x&" + b"a" * 8192, "application/x-www-form-urlencoded", 400),
        (b"csrf=x" + b"&a=b" * 30, "application/x-www-form-urlencoded", 400),
        (b"csrf=%ff", "application/x-www-form-urlencoded", 400),
        (b"csrf=\xff", "application/x-www-form-urlencoded", 400),
        (b'{"csrf": "x"}', "application/json", 400),
        (b"csrf=x", "text/plain", 400),
        (b"", "application/x-www-form-urlencoded", 403),
    ],
)
def test_invalid_forms_are_rejected(browser: Browser, body: bytes, kind: str, status: int) -> None:
    browser.get("/account/sign-in")
    assert browser.raw("/account/sign-in", body, **{"Content-Type": kind}).status == status


def test_anonymous_sessions_are_not_stored(server: Server) -> None:
    for _ in range(5):
        Browser(server).get("/account/sign-in")
    with server.database.connection() as connection:
        assert connection.execute("SELECT count(*) FROM session").fetchone() == (0,)
