"""Requests for a larger quota: the page of the member, the page of operators, and the limit of the account."""

from __future__ import annotations

import pytest

from directory_server.domain.accounts import Account
from directory_server.features.quota_requests import tables as quota_tables
from directory_server.features.quota_requests.tables import QuotaRequest, QuotaRequests
from directory_server.run_sync import run_sync

from ...web.browsers import SEARCH, Browser
from ...web.conftest import Server

QUOTA = "/account/quota"
HOSTILE = "<script>alert(1)</script>\u202e"


def ask(browser: Browser, limit: str = "500", reason: str = "A nightly job.") -> str:
    """Send a request; return the code of the error."""
    browser.get(QUOTA)
    return browser.submit(QUOTA, {"limit": limit, "reason": reason})


def test_a_granted_request_counts_for_all_keys_and_new_ones(
    server: Server, ann: Account, member: Browser, operator: Browser
) -> None:
    secret = member.create_key()
    assert server.get(SEARCH, key=secret).headers["X-RateLimit-Limit"] == "20"
    assert ask(member) == ""
    assert "Request sent." in member.text
    member.get(QUOTA)
    assert "Your request for 500 requests waits for an operator." in member.text
    assert 'name="reason"' not in member.page
    operator.get("/admin")
    assert "1 member asks for a larger quota" in operator.text
    operator.get("/admin/quota-requests")
    assert ann.email in operator.text
    assert "A nightly job." in operator.text
    assert "Asks for 500 requests in 60 minutes · has 20" in operator.text
    operator.follow(operator.post(f"/admin/quota-requests/{ann.id}/grant", {"limit": "300"}))
    assert "Limit granted." in operator.text
    assert "No open request." in operator.text
    assert server.get(SEARCH, key=secret).headers["X-RateLimit-Limit"] == "300"
    assert server.get(SEARCH, key=member.create_key()).headers["X-RateLimit-Limit"] == "300"
    member.get(QUOTA)
    assert "Granted: each of your keys can make 300 requests in any 60 minutes." in member.text
    assert "Each key can make 300 requests" in member.text
    assert 'name="reason"' in member.page


def test_a_declined_request_changes_nothing_and_can_be_sent_again(
    server: Server, ann: Account, member: Browser, operator: Browser
) -> None:
    secret = member.create_key()
    ask(member)
    operator.get("/admin/quota-requests")
    operator.follow(operator.post(f"/admin/quota-requests/{ann.id}/decline"))
    assert "Request declined." in operator.text
    assert server.get(SEARCH, key=secret).headers["X-RateLimit-Limit"] == "20"
    member.get(QUOTA)
    assert "Declined: your request for 500 requests." in member.text
    assert ask(member, "400") == ""
    operator.get("/admin/quota-requests")
    assert "Asks for 400 requests" in operator.text


def test_of_two_decisions_the_first_counts(server: Server, ann: Account, member: Browser, operator: Browser) -> None:
    ask(member)
    operator.get("/admin/quota-requests")
    path = f"/admin/quota-requests/{ann.id}"
    assert operator.submit(f"{path}/decline") == ""
    operator.get("/account/keys")
    assert operator.submit(f"{path}/grant", {"limit": "300"}) == "not_found"
    account = run_sync(server.accounts.find(ann.email))
    assert account is not None
    assert account.limit is None


INVALID = [
    ("", "x", "limit_wrong"),
    ("0", "x", "limit_wrong"),
    ("9" * 30, "x", "limit_wrong"),
    ("unlimited", "x", "limit_wrong"),
    ("٣", "x", "limit_wrong"),
    ("500", " \u200b ", "reason_missing"),
    ("500", "x" * 281, "reason_long"),
]


def test_rejects_an_invalid_request(server: Server, member: Browser, subtests: pytest.Subtests) -> None:
    for limit, reason, error in INVALID:
        with subtests.test(f"{limit} {reason[:5]}"):
            assert ask(member, limit, reason) == error
            assert 'aria-invalid="true"' in member.page
    assert run_sync(QuotaRequests(server.application.storage.tables).count()) == 0


def test_requests_are_limited(server: Server, ann: Account, member: Browser) -> None:
    requests = QuotaRequests(server.application.storage.tables)
    for _ in range(5):
        assert ask(member) == ""
        run_sync(requests.decide(ann.id, server.clock.seconds(), None))
    assert ask(member) == "throttled"


def test_open_requests_are_bounded(
    server: Server, ann: Account, member: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quota_tables, "MAX_OPEN", 1)
    bob = run_sync(server.accounts.add("bob@example.org"))
    run_sync(QuotaRequests(server.application.storage.tables).put(QuotaRequest(bob.id, 50, "x", 1.0)))
    assert ask(member) == "requests_full"


def test_texts_are_escaped_and_cleaned(server: Server, member: Browser, operator: Browser) -> None:
    ask(member, reason=HOSTILE)
    operator.get("/admin/quota-requests")
    assert "<script>alert" not in operator.page
    assert "\u202e" not in operator.page


def test_an_operator_cannot_grant_the_own_request(server: Server, operator_account: Account, operator: Browser) -> None:
    ask(operator)
    operator.get("/admin/quota-requests")
    path = f"/admin/quota-requests/{operator_account.id}/grant"
    assert path not in operator.page
    operator.get("/account/keys")
    assert operator.submit(path, {"limit": "300"}) == "own_account"
    account = run_sync(server.accounts.find(operator_account.email))
    assert account is not None
    assert account.limit is None


def test_the_list_is_bounded(server: Server, operator: Browser) -> None:
    requests = QuotaRequests(server.application.storage.tables)
    for number in range(25):
        account = run_sync(server.accounts.add(f"{'x' * 200}{number}@example.org"))
        run_sync(requests.put(QuotaRequest(account.id, 50, "数" * 280, float(number))))
    assert len(operator.get("/admin/quota-requests").body) < 60_000
    assert operator.page.count("/grant") == 20
    assert "5 more requests follow" in operator.text


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_page_says_what_costs(member: Browser, language: str) -> None:
    member.get(f"{QUOTA}?lang={language}")
    assert "20" in member.text
    assert member.page.count("<dt>") == 2
