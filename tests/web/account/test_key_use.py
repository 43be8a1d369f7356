"""The use of keys on the page of keys: quota, last use and its client."""

from __future__ import annotations

import pytest

from directory_server.domain.accounts import Account
from directory_server.runtime.run_sync import run_sync

from ..conftest import Server
from .conftest import SEARCH, Browser


def test_a_spent_quota_is_marked_with_the_time_of_the_next_request(server: Server, member: Browser) -> None:
    secret = member.create_key()
    server.get(SEARCH, key=secret)
    server.clock.advance(600)
    for _ in range(19):
        server.get(SEARCH, key=secret)
    member.get("/account/keys")
    assert "Last 60 minutes: 20 of 20 Next request at 09:00 UTC" in member.text
    assert 'class="usage spent"' in member.page
    assert '<time datetime="2027-01-15T09:00:00Z" data-local="time">' in member.page
    server.clock.advance(3_000)
    member.get("/account/keys")
    assert "Last 60 minutes: 19 of 20" in member.text
    assert "spent" not in member.page


def test_an_unlimited_key_has_no_quota(server: Server, ann: Account, member: Browser) -> None:
    run_sync(server.keys.create("unlimited", limit=None, expires_at=None, owner=ann.id))
    member.get("/account/keys")
    assert "No request limit" in member.text
    assert "<meter" not in member.page


def test_the_page_shows_the_client_of_the_last_use(server: Server, member: Browser) -> None:
    secret = member.create_key()
    server.clock.advance(60)
    server.get(SEARCH, key=secret, headers={"User-Agent": "curl/8.5.0"}, address="192.0.2.7")
    member.get("/account/keys")
    assert "Last used 2027-01-15 08:01 UTC Ends in" in member.text
    run_sync(server.key_uses.flush())
    member.get("/account/keys")
    assert "Last used 2027-01-15 08:01 UTC · curl · 192.0.2.0/24 Ends in" in member.text
    assert "192.0.2.7" not in member.page


@pytest.mark.parametrize("server", [{"accounts.registration": "open"}], indirect=True)
def test_keys_with_a_shared_quota_have_their_own_last_use(server: Server) -> None:
    browser = Browser(server)
    browser.get("/account/register")
    browser.submit("/account/register", {"email": "ann@example.org", "password": "correct horse battery"})
    secret = browser.create_key("used")
    browser.create_key("unused")
    server.get(SEARCH, key=secret)
    run_sync(server.key_uses.flush())
    browser.get("/account/keys")
    used, unused = browser.text.split("Last used ")[1:]
    assert used.startswith("2027-01-15 08:00 UTC · 127.0.0.0/24")
    assert unused.startswith("Never")


@pytest.mark.parametrize("server", [{"keys.last_use": 0.0}], indirect=True)
def test_without_stored_uses_the_page_shows_the_time_of_the_last_charge(server: Server, member: Browser) -> None:
    server.get(SEARCH, key=member.create_key(), headers={"User-Agent": "curl/8.5.0"})
    run_sync(server.key_uses.flush())
    member.get("/account/keys")
    assert "Last used 2027-01-15 08:00 UTC Ends in" in member.text
