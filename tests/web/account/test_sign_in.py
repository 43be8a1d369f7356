"""Sign-in, sign-out, invitations and passwords."""

from __future__ import annotations

import pytest

from directory_server.domain.accounts import Account

from ..conftest import Server
from .conftest import ANN, PASSWORD, Browser, account_of, invite


def test_accepting_an_invitation_redirects_to_the_keys(server: Server, browser: Browser) -> None:
    path = invite(server)
    assert browser.get(path).status == 200
    assert ANN in browser.text
    response = browser.post(path, {"password": PASSWORD})
    assert (response.status, response.headers["Location"]) == (303, "/account/keys")
    assert browser.get("/account/keys").status == 200
    assert f"Signed in as {ANN}." in browser.text
    assert Browser(server).try_sign_in() == ""


def test_an_invitation_works_once(server: Server, browser: Browser) -> None:
    path = invite(server)
    late = Browser(server)
    late.get(path)
    browser.get(path)
    browser.post(path, {"password": PASSWORD})
    assert late.post(path, {"password": "quite another password"}).status == 404
    assert Browser(server).get(path).status == 404
    assert late.try_sign_in(password="quite another password") == "sign_in_refused"


@pytest.mark.parametrize("password", ["", "short", "x" * 201, ANN])
def test_a_rejected_password_does_not_use_up_the_invitation(server: Server, browser: Browser, password: str) -> None:
    path = invite(server)
    browser.get(path)
    assert browser.submit(path, {"password": password}) == "password_wrong"
    assert "The password must have 12 to 200 characters" in browser.text
    assert browser.post(path, {"password": PASSWORD}).status == 303


def test_sign_in_redirects_to_the_requested_page(server: Server, ann: Account, browser: Browser) -> None:
    response = browser.get("/account/sessions")
    assert response.status == 303
    place = response.headers["Location"]
    assert place == "/account/sign-in?next=%2Faccount%2Fsessions"
    browser.get(place)
    assert 'name="next" value="/account/sessions"' in browser.page
    response = browser.post("/account/sign-in", {"email": " ANN@example.org", "password": PASSWORD, "next": "/?q=a"})
    assert (response.status, response.headers["Location"]) == (303, "/?q=a")


def test_sign_out_ends_the_session(server: Server, member: Browser) -> None:
    member.get("/account/keys")
    stolen = Browser(server)
    stolen.cookies = dict(member.cookies)
    assert stolen.get("/account/keys").status == 200
    response = member.post("/account/sign-out")
    assert (response.status, response.headers["Location"]) == (303, "/account/sign-in")
    assert set(member.cookies) == {"flash"}
    assert member.follow(response).status == 200
    assert "Signed out." in member.text
    assert member.get("/account/sign-in").status == 200
    assert "Signed out." not in member.text
    assert stolen.get("/account/keys").status == 303


def test_a_changed_password_ends_every_other_session(server: Server, member: Browser) -> None:
    other = Browser(server)
    other.sign_in()
    member.get("/account/password")
    before = dict(member.cookies)
    response = member.post("/account/password", {"old": PASSWORD, "password": "a new and long one"})
    assert response.status == 303
    assert member.cookies != before
    assert member.get("/account/keys").status == 200
    assert other.get("/account/keys").status == 303
    assert Browser(server).try_sign_in() == "sign_in_refused"
    assert Browser(server).try_sign_in(password="a new and long one") == ""


def test_changing_a_password_requires_the_current_one(server: Server, member: Browser) -> None:
    member.get("/account/password")
    form = {"old": "wrong", "password": "a new and long one"}
    assert member.submit("/account/password", form) == "password_refused"
    assert "Incorrect password." in member.text
    assert member.submit("/account/password", {"old": PASSWORD, "password": "short"}) == "password_wrong"
    assert member.get("/account/keys").status == 200
    assert Browser(server).try_sign_in() == ""


def test_registration_is_not_found_by_default(browser: Browser) -> None:
    assert browser.get("/account/register").status == 404
    browser.get("/account/sign-in")
    assert browser.post("/account/register", {"email": ANN, "password": PASSWORD}).status == 404
    assert "/account/register" not in browser.page


@pytest.mark.parametrize("server", [{"accounts.registration": "open"}], indirect=True)
def test_open_registration_creates_accounts(server: Server, browser: Browser) -> None:
    browser.get("/account/sign-in")
    assert 'href="/account/register"' in browser.page
    browser.get("/account/register")
    assert browser.submit("/account/register", {"email": "no address", "password": PASSWORD}) == "email_wrong"
    assert 'value="no address"' in browser.page
    assert browser.submit("/account/register", {"email": ANN, "password": "short"}) == "password_wrong"
    assert browser.submit("/account/register", {"email": ANN, "password": PASSWORD}) == ""
    assert "Account created." in browser.text
    other = Browser(server)
    other.get("/account/register")
    assert other.submit("/account/register", {"email": "Ann@Example.org", "password": PASSWORD}) == "email_taken"
    assert "already exists" in other.text


def test_the_sign_in_page_of_a_directory_without_accounts_names_the_command(server: Server, browser: Browser) -> None:
    command = "directory-server account add --role operator you@example.org"
    assert browser.get("/account/sign-in").status == 200
    assert command in browser.text
    assert "Ask the operator" not in browser.text
    account_of(server)
    browser.get("/account/sign-in")
    assert command not in browser.text
    assert "Ask the operator" in browser.text
