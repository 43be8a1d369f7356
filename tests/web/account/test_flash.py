"""POST/redirect/GET: results of forms are shown once, on the page that the form redirects to."""

from __future__ import annotations

import re
from urllib.parse import urlencode

import pytest

from directory_server.domain.accounts import Account
from directory_server.web.account._requests import COOKIE, _mark

from ..conftest import Server
from ..routes import all_routes
from .conftest import Browser, invite, set_cookies

DECLARED = {"/account/quota"}
"""Forms that are declared by their fields: a page with an error is the response."""

FORMS = [
    route.path
    for route in all_routes()
    if route.method == "POST" and route.path.startswith("/account/") and route.path not in DECLARED
]


def cookie_of(path: str = "/account/keys", **fields: str) -> str:
    known = {"path": _mark(path), "notice": "", "error": "", "retry": "0", **fields}
    return urlencode(known)


@pytest.mark.parametrize("server", [{"accounts.registration": "open"}], indirect=True)
@pytest.mark.parametrize("path", FORMS)
def test_every_form_is_answered_with_a_redirect(server: Server, ann: Account, path: str) -> None:
    is_member = not re.search("sign-in|register|invitation", path)
    browser = Browser(server)
    start = invite(server, "bob@example.org") if "invitation" in path else path
    if is_member:
        browser.sign_in()
        start = "/account/keys"
    browser.get(start)
    wrong = {"email": "ann", "password": "x", "label": "\n", "old": "wrong", "key": "x"}
    response = browser.post(re.sub(r"\{\w+\}", "abcdefgh", path) if is_member else start, wrong)
    assert (response.status, response.body) == (303, b"")
    assert browser.follow(response).status == 200
    assert path == "/account/sign-out" or path.endswith("end-others") or browser.error
    # A reload shows the form without the error. Without a result, the page of the key test redirects.
    assert browser.get(response.headers["Location"]).status == (303 if path.endswith("/test") else 200)
    assert browser.error == "" or path.endswith("/test")


def test_a_confirmation_is_shown_once(server: Server, member: Browser) -> None:
    member.create_key()
    member.get("/account/keys")
    (path,) = re.findall(r"/account/keys/\w+/revoke", member.page)
    response = member.post(path)
    (cookie,) = set_cookies(response)
    assert cookie.startswith(f"{COOKIE}=")
    assert "HttpOnly; SameSite=lax" in cookie
    assert "Max-Age=60;" in cookie
    for shown in (True, False):
        member.get("/account/keys")
        assert ('<p class="notice good" role="status">Key revoked.</p>' in member.page) is shown
    assert COOKIE not in member.cookies


def test_other_pages_neither_show_nor_keep_a_flash(member: Browser) -> None:
    member.cookies[COOKIE] = cookie_of("/account/sessions", notice="session_ended")
    member.request("HEAD", "/account/sessions")
    member.get("/account/keys")
    assert "Session ended." not in member.text
    assert COOKIE in member.cookies
    member.get("/account/sessions")
    assert "Session ended." in member.text


def test_the_values_of_a_rejected_form_are_shown_again(member: Browser) -> None:
    member.get("/account/keys")
    assert member.submit("/account/keys", {"label": "a\tb", "expires": "90"}) == "label_wrong"
    assert '<option value="90" selected>' in member.page
    described = 'aria-invalid="true" aria-describedby="form-error label-hint" autofocus'
    assert re.search(rf'<input id="label"[^>]* value="a\s+b"[^>]* {described}>', member.page)
    assert member.page.count("autofocus") == 1


@pytest.mark.parametrize("server", [{"accounts.registration": "open"}], indirect=True)
def test_a_browser_keeps_the_flash_of_a_text_of_emoji(browser: Browser) -> None:
    email, text = f"{'a' * 64}@{'b' * 60}.example.org", "\N{GRINNING FACE}" * 281
    browser.get("/account/register")
    browser.post("/account/register", {"email": email, "password": "x" * 12, "text": text})
    assert len(f"{COOKIE}={browser.cookies[COOKIE]}") <= 4_096
    browser.get("/account/register")
    assert browser.error == "text_long"
    assert text in browser.page


def test_no_password_is_in_a_flash(server: Server, ann: Account, browser: Browser) -> None:
    browser.get("/account/sign-in")
    browser.post("/account/sign-in", {"email": "ann@example.org", "password": "secret-phrase"})
    encoded = browser.cookies[COOKIE]
    assert cookie_of("/account/sign-in", error="sign_in_refused", **{"value.email": "ann@example.org"}) == encoded


@pytest.mark.parametrize(
    "cookie",
    [
        "x",
        "é",
        "=",
        "a" * 4_000,
        f"{cookie_of()}&value.label=%FF%FE%00",
        cookie_of(retry="many"),
        cookie_of(retry="-5", error="throttled"),
        cookie_of(error="<script>alert(1)</script>"),
        cookie_of(notice="<script>alert(1)</script>"),
        cookie_of(error="label_wrong", **{"value.label": '"><script>alert(1)</script>'}),
        cookie_of(error="label_wrong", **{"value.secret": "mcpd_x", "value.csrf": "forged", "value.keys": "x"}),
        cookie_of(**{f"value.{number}": "x" for number in range(50)}),
    ],
)
def test_a_forged_flash_is_harmless(member: Browser, cookie: str) -> None:
    member.get("/account/keys")
    csrf = member.csrf
    member.cookies[COOKIE] = cookie
    assert member.get("/account/keys").status == 200
    assert "<script>" not in member.page
    assert member.csrf == csrf
    assert "mcpd_x" not in member.page


def test_a_forged_flash_replaces_no_secret(member: Browser) -> None:
    member.get("/account/keys")
    path = member.post("/account/keys", {"label": "laptop"}).headers["Location"]
    member.cookies[COOKIE] = cookie_of(path, **{"value.secret": "mcpd_" + "x" * 38})
    assert member.get(path).status == 200
    assert "x" * 38 not in member.page
    assert member.secret


def test_a_flash_is_secure_under_tls(server: Server, ann: Account) -> None:
    browser = Browser(server, "10.0.0.1", **{"X-Forwarded-Proto": "https"})
    browser.get("/account/sign-in")
    response = browser.post("/account/sign-in", {"email": "a", "password": "b"}, Origin="https://localhost")
    (cookie,) = set_cookies(response)
    assert "; Secure" in cookie


def test_errors_of_forms_are_in_the_access_log(server: Server, ann: Account, browser: Browser) -> None:
    from ...logs import captured_lines

    with captured_lines() as lines:
        browser.try_sign_in(password="wrong")
    assert any("POST /account/sign-in 303" in line and "error=sign_in_refused" in line for line in lines)
