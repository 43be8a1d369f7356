"""Deletion of an account by its owner."""

from __future__ import annotations

import pytest

from directory_server.domain.accounts import Account
from directory_server.runtime.run_sync import run_sync

from ...logs import captured_lines
from ..conftest import Server
from .conftest import ANN, PASSWORD, Browser, account_of

SEARCH = "/api/open/v1/search?keywords=postgres"
CONFIRMED = {"old": PASSWORD, "confirmed": "yes"}


def test_the_page_says_what_is_deleted_and_what_remains(server: Server, member: Browser) -> None:
    member.create_key()
    member.get("/account/delete")
    assert "Your key stops working immediately." in member.text
    member.create_key()
    member.get("/account/delete")
    for text in ("Your 2 keys stop working immediately.", "What remains: the ids of your keys", "cannot be undone"):
        assert text in member.text


def test_deletion_ends_keys_and_sessions(server: Server, ann: Account, member: Browser) -> None:
    secret = member.create_key()
    other = Browser(server)
    other.sign_in()
    member.get("/account/delete")
    response = member.post("/account/delete", CONFIRMED)
    assert (response.status, response.headers["Location"]) == (303, "/account/sign-in")
    assert "session" not in member.cookies
    member.follow(response)
    assert "Account deleted." in member.text
    assert server.get(SEARCH, key=secret).status == 401
    assert member.get("/account/keys").status == other.get("/account/keys").status == 303
    assert member.try_sign_in() == "sign_in_refused"
    account_of(server)
    assert member.try_sign_in() == ""
    member.get("/account/keys")
    assert "You have no keys yet." in member.text


@pytest.mark.parametrize(
    ("fields", "code", "message"),
    [
        ({}, "not_confirmed", "Select the checkbox to confirm."),
        ({"old": PASSWORD}, "not_confirmed", "Select the checkbox to confirm."),
        ({**CONFIRMED, "old": "wrong"}, "password_refused", "Incorrect password."),
    ],
)
def test_deletion_needs_password_and_confirmation(
    server: Server, ann: Account, member: Browser, fields: dict[str, str], code: str, message: str
) -> None:
    secret = member.create_key()
    member.get("/account/delete")
    assert member.submit("/account/delete", fields) == code
    assert message in member.text
    assert server.get(SEARCH, key=secret).status == 200
    assert Browser(server).try_sign_in() == ""


def test_wrong_passwords_are_limited_as_sign_ins_are(server: Server, ann: Account, member: Browser) -> None:
    codes = []
    for _ in range(11):
        member.get("/account/delete")
        codes.append(member.submit("/account/delete", {**CONFIRMED, "old": "wrong"}))
    # The first attempt was the sign-in.
    assert codes == ["password_refused"] * 9 + ["throttled"] * 2


def test_nothing_personal_stays_in_the_database(server: Server, ann: Account, member: Browser) -> None:
    member.create_key("the laptop of Ann")
    server.get(SEARCH, key=member.secret, headers={"User-Agent": "peculiar-client/1"}, address="192.0.2.7")
    run_sync(server.key_uses.flush())
    member.get("/account/delete")
    with captured_lines() as lines:
        assert member.post("/account/delete", CONFIRMED).status == 303
    assert ANN not in "\n".join(lines)
    with server.database.connection() as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        rows = str([connection.execute(f"SELECT * FROM {table}").fetchall() for table in tables])
    for personal in (ANN, "the laptop of Ann", "peculiar-client", "192.0.2.", PASSWORD, ann.id):
        assert personal not in rows
