"""The list of sessions and its forms."""

from __future__ import annotations

import re

import pytest

from directory_server.domain.accounts import USE_INTERVAL, Account

from ..conftest import Server
from .conftest import PASSWORD, Browser, account_of

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0"
SAFARI = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Mobile/15E148 Safari/604.1"

_END = re.compile(r'action="(/account/sessions/[0-9a-f]{16}/end)"')


def phone_of(server: Server) -> Browser:
    """Return another browser in which Ann is signed in."""
    phone = Browser(server, "2001:db8:1:2::3", **{"User-Agent": SAFARI})
    assert phone.try_sign_in() == ""
    return phone


def test_the_page_lists_browser_network_and_times(server: Server, ann: Account) -> None:
    laptop = Browser(server, "192.0.2.7", **{"User-Agent": FIREFOX})
    laptop.sign_in()
    server.clock.advance(60)
    phone = phone_of(server)
    server.clock.advance(USE_INTERVAL)
    phone.get("/account/keys")
    laptop.get("/account/sessions")
    this, other = laptop.text.split("Firefox (Linux)")[1].split("Safari (iOS)")
    assert "This session Started 2027-01-15 08:00 UTC Last seen Now Network 192.0.2.0/24" in this
    assert "Started 2027-01-15 08:01 UTC Last seen 2027-01-15 08:16 UTC Network 2001:db8:1::/48 End session" in other
    assert '<time datetime="2027-01-15T08:01:00Z" data-local="datetime">' in laptop.page


def test_a_session_is_ended(server: Server, ann: Account, member: Browser) -> None:
    phone = phone_of(server)
    member.get("/account/sessions")
    (path,) = _END.findall(member.page)
    response = member.post(path)
    assert response.headers["Location"] == "/account/sessions"
    member.follow(response)
    assert "Session ended." in member.text
    assert phone.get("/account/keys").status == 303
    assert "End all other sessions" not in member.text
    # A second click in another tab.
    assert member.submit(path) == "session_unknown"
    assert "This session has ended already." in member.text
    assert member.get("/account/keys").status == 200


def test_all_other_sessions_are_ended(server: Server, ann: Account, member: Browser) -> None:
    others = [phone_of(server) for _ in range(2)]
    member.get("/account/sessions")
    assert member.submit("/account/sessions/end-others") == ""
    assert "All other sessions have ended." in member.text
    assert [other.get("/account/keys").status for other in others] == [303, 303]
    assert member.get("/account/keys").status == 200


def test_sessions_of_other_accounts_are_neither_listed_nor_ended(server: Server, ann: Account, member: Browser) -> None:
    account_of(server, "bob@example.org")
    bob = Browser(server)
    bob.sign_in("bob@example.org")
    phone = phone_of(server)
    member.get("/account/sessions")
    (path,) = _END.findall(member.page)
    bob.get("/account/sessions")
    assert _END.findall(bob.page) == []
    assert bob.submit(path) == "session_unknown"
    assert bob.submit("/account/sessions/end-others") == ""
    assert phone.get("/account/keys").status == member.get("/account/keys").status == 200


@pytest.mark.parametrize("server", [{"accounts.session_clients": False}], indirect=True)
def test_without_the_setting_no_client_is_stored(server: Server, ann: Account) -> None:
    phone = phone_of(server)
    server.clock.advance(USE_INTERVAL)
    phone.get("/account/sessions")
    assert "Browser This session Started" in phone.text
    assert "Safari" not in phone.text
    assert "Network" not in phone.text
    with server.database.connection() as connection:
        assert connection.execute("SELECT network, client FROM session").fetchall() == [("", "")]


def test_hostile_user_agents_are_cleaned(server: Server, ann: Account) -> None:
    agent = "Mozilla/5.0 <script>alert(1)</script> Firefox/1 (Linux) " + "x" * 5_000
    hostile = Browser(server, **{"User-Agent": agent})
    hostile.sign_in(password=PASSWORD)
    hostile.get("/account/sessions")
    assert "Firefox (Linux) This session" in hostile.text
    assert "alert" not in hostile.page
