"""Catalogue mode: members see on the search page what needs approval, and request it there. Nobody else sees it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from directory_server.runtime.run_sync import run_sync

from ...web.browsers import OPERATOR, Browser
from ...web.conftest import entry
from .conftest import SECRET, open_listed
from .test_requests import AMY, EVE, REQUESTS, Office, open_office, put
from .test_visibility import ASKED, answer

FOUND, NEEDS = "/?q=zebra", "Zebra vault Needs approval"


@pytest.fixture
def catalogue(tmp_path: Path) -> Iterator[Office]:
    with open_listed(tmp_path / "catalogue", **{"lists.catalogue": True}) as listed:
        yield open_office(listed)


def test_a_member_requests_a_server_where_she_has_found_it(catalogue: Office) -> None:
    ann = catalogue.ann
    ann.get(FOUND)
    assert NEEDS in ann.text
    assert '<input type="hidden" name="list" value="team">' in ann.page
    sent = {"entry": SECRET.name, "list": "team", "reason": "For the zebra project."}
    assert ann.submit("/account/requests", sent) == ""
    assert "Request sent." in ann.text
    [path] = set(re.findall(r'href="(/account/requests/\w+)"', ann.page))
    ann.get(path)
    assert '<a href="/account/requests" aria-current="true">' in ann.page
    ann.get(FOUND)
    assert "Zebra vault Requested" in ann.text
    assert 'name="reason"' not in ann.page
    assert catalogue.decide("decline") == ""
    ann.get(FOUND)
    assert "Zebra vault Declined" in ann.text
    run_sync(catalogue.listed.lists.pick("team", SECRET.name))
    catalogue.listed.update()
    ann.get(FOUND)
    assert "need approval" not in ann.text
    assert 'href="/servers/' in ann.page


def test_who_can_request_nothing_is_told_so(catalogue: Office) -> None:
    eve = catalogue.browsers[EVE]
    eve.get(FOUND)
    assert NEEDS in eve.text
    assert "You do not see a server yet" in eve.text
    assert "No list that you see accepts requests." in eve.text


def test_an_account_that_is_not_approved_sees_nothing_more(tmp_path: Path) -> None:
    with open_listed(tmp_path, **{"lists.catalogue": True, "accounts.registration": "open"}) as listed:
        listed.publish(SECRET)
        browser, email = Browser(listed.server), "zoe@example.org"
        browser.get("/account/register")
        assert browser.submit("/account/register", {"email": email, "password": "correct horse battery"}) == ""
        browser.get(FOUND)
        assert "Needs approval" not in browser.text
        account = run_sync(listed.server.accounts.find(email))
        assert account is not None
        run_sync(listed.server.accounts.approve(account.id))
        browser.get(FOUND)
        assert NEEDS in browser.text


def test_only_searches_of_members_show_what_needs_approval(catalogue: Office) -> None:
    for browser in (catalogue.browsers[OPERATOR], Browser(catalogue.listed.server)):
        browser.get(FOUND)
        assert "need approval" not in browser.text
    for path in ("/", "/?sort=relevance", "/?q=zebra&page=2", "/?q=horse", "/?q=category:none"):
        catalogue.ann.get(path)
        assert "need approval" not in catalogue.ann.text
    run_sync(catalogue.listed.server.application.storage.curation.mark(SECRET.name, "hidden", True))
    catalogue.listed.update()
    catalogue.ann.get(FOUND)
    assert "need approval" not in catalogue.ann.text


def test_the_catalogue_changes_no_other_response(tmp_path: Path) -> None:
    with (
        open_listed(tmp_path / "on", **{"lists.catalogue": True}) as on,
        open_listed(tmp_path / "off") as off,
    ):
        for listed in (on, off):
            listed.publish(SECRET)
        secret = [name for name in ASKED if "secret" in name or "zebra" in name]
        assert len(secret) > 20
        assert [answer(on, ASKED[name], "bob") for name in secret] == [
            answer(off, ASKED[name], "bob") for name in secret
        ]


def test_the_start_page_says_what_to_do(tmp_path: Path) -> None:
    with open_listed(tmp_path) as listed:
        office = open_office(listed)
        visitor = Browser(listed.server)
        visitor.get("/")
        assert "Sign in to see the servers of your team" in visitor.text
        assert "Browse all" not in visitor.text
        office.browsers[AMY].get("/")
        assert "You do not see a server yet" in office.browsers[AMY].text


def test_an_approver_sees_who_asks_why_and_what_has_changed(catalogue: Office) -> None:
    put(catalogue.listed, holds_versions=True)
    catalogue.request(reason="For <the> project.")
    amy = catalogue.amy
    amy.get(REQUESTS)
    assert "Zebra vault io.github.secret/vault · Team" in amy.text
    assert "ann@example.net : For <the> project." in amy.text
    assert "Waits for a decision" not in amy.text
    catalogue.request("io.github.none/none")
    amy.get(REQUESTS)
    assert "io.github.none/none Team" in amy.text
    assert catalogue.decide("approve") == ""
    catalogue.listed.publish(entry(SECRET.name, "Opens the zebra gate.", title="Zebra gate", version="2.0.0"))
    amy.get(REQUESTS)
    assert "Zebra gate New version" in amy.text
    assert "Changed: description , remotes[0].type , remotes[0].url , title" in amy.text
