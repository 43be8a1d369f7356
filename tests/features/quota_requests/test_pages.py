"""Requests for a larger quota: the page of the member, and what operators decide."""

from __future__ import annotations

import json

import pytest

from directory_server.domain.accounts import Account
from directory_server.domain.requests import Request
from directory_server.features.quota_requests.resource import QUOTA as KIND
from directory_server.runtime.run_sync import run_sync
from directory_server.tables import Requests

from ...cli.conftest import CommandLine
from ...web.browsers import PASSWORD, SEARCH, Browser
from ...web.conftest import Server

QUOTA = "/account/quota"
HOSTILE = "<script>alert(1)</script>\u202e"


@pytest.fixture
def requests(server: Server) -> Requests:
    return Requests(server.application.storage.tables, (KIND,))


def ask(browser: Browser, limit: str = "500", reason: str = "A nightly job.") -> str:
    """Send a request; return the code of the error."""
    browser.get(QUOTA)
    return browser.submit(QUOTA, {"limit": limit, "text": reason})


def path_of(requests: Requests) -> str:
    """Return the path of the last open request."""
    return f"/admin/quota-requests/{run_sync(requests.list(is_open=True, limit=1))[0].id}"


def test_a_granted_request_counts_for_all_keys_and_new_ones(
    server: Server, ann: Account, member: Browser, operator: Browser, requests: Requests
) -> None:
    secret = member.create_key()
    assert server.get(SEARCH, key=secret).headers["X-RateLimit-Limit"] == "20"
    assert ask(member) == ""
    assert "Request sent." in member.text
    assert "Quota request: Waits for a decision Asked for, in 60 minutes 500" in member.text
    assert 'name="limit"' not in member.page
    operator.get("/admin")
    assert "1 member asks for a larger quota" in operator.text
    operator.get("/admin/quota-requests")
    for text in (ann.email, "A nightly job.", "asks for 500"):
        assert text in operator.text
    path = path_of(requests)
    operator.get(path)
    assert 'value="500"' in operator.page
    operator.follow(operator.post(f"{path}/grant", {"limit": "300", "text": "Enough?"}))
    assert "Limit granted." in operator.text
    assert server.get(SEARCH, key=secret).headers["X-RateLimit-Limit"] == "300"
    assert server.get(SEARCH, key=member.create_key()).headers["X-RateLimit-Limit"] == "300"
    member.get(QUOTA)
    assert "Quota request: Approved Asked for, in 60 minutes 500 Granted 300" in member.text
    assert "Enough?" in member.text
    assert "Each key can make 300 requests" in member.text
    assert 'name="limit"' in member.page


@pytest.mark.parametrize("server", [{"accounts.registration": "open"}], indirect=True)
def test_an_account_that_is_not_approved_asks_for_nothing(server: Server, browser: Browser, requests: Requests) -> None:
    browser.get("/account/register")
    assert browser.submit("/account/register", {"email": "eve@example.org", "password": PASSWORD}) == ""
    assert ask(browser) == "not_approved"
    assert 'name="limit"' not in browser.page
    assert run_sync(requests.count()) == 0


def test_a_member_answers_a_question_and_withdraws(
    server: Server, member: Browser, operator: Browser, requests: Requests
) -> None:
    ask(member)
    path = path_of(requests)
    operator.get(path)
    assert operator.submit(f"{path}/ask", {"text": " "}) == "text_missing"
    assert operator.submit(f"{path}/ask", {"text": "Which job?"}) == ""
    own = f"{QUOTA}/{path.rpartition('/')[2]}"
    member.get(QUOTA)
    assert "Waits for an answer" in member.text
    assert "Which job?" in member.text
    for browser, action in ((operator, "answer"), (member, "approve")):
        assert browser.submit(f"{own}/{action}", {"text": "x"}) == "not_found"
        browser.get(QUOTA)
    assert member.submit(f"{own}/answer", {"text": "The backup."}) == ""
    assert "Answer sent." in member.text
    operator.get(path)
    assert "The backup." in operator.text
    assert member.submit(f"{own}/withdraw") == ""
    assert "Withdrawn" in member.text
    operator.get(path)
    assert f"{path}/grant" not in operator.page


def test_a_declined_request_changes_nothing_and_can_be_sent_again(
    server: Server, ann: Account, member: Browser, operator: Browser, requests: Requests
) -> None:
    secret = member.create_key()
    ask(member)
    path = path_of(requests)
    operator.get(path)
    assert operator.submit(f"{path}/decline") == ""
    operator.get("/account/keys")
    assert operator.submit(f"{path}/grant", {"limit": "300"}) == "decided"
    account = run_sync(server.accounts.find(ann.email))
    assert account is not None
    assert account.limit is None
    assert server.get(SEARCH, key=secret).headers["X-RateLimit-Limit"] == "20"
    member.get(QUOTA)
    assert "Declined" in member.text
    assert ask(member, "400") == ""
    member.get(QUOTA)
    assert member.submit(QUOTA, {"limit": "5", "text": "x"}) == "request_exists"


INVALID = [
    ("", "x", "limit_wrong"),
    ("0", "x", "limit_wrong"),
    ("9" * 30, "x", "limit_wrong"),
    ("unlimited", "x", "limit_wrong"),
    ("\u0663", "x", "limit_wrong"),
    ("500", " \u200b ", "text_missing"),
    ("500", "x" * 281, "text_long"),
]


def test_rejects_an_invalid_request(member: Browser, requests: Requests, subtests: pytest.Subtests) -> None:
    for limit, reason, error in INVALID:
        with subtests.test(f"{limit} {reason[:5]}"):
            assert ask(member, limit, reason) == error
            assert 'aria-invalid="true"' in member.page
    assert run_sync(requests.count()) == 0


def test_requests_are_limited(server: Server, member: Browser, requests: Requests) -> None:
    for _ in range(5):
        assert ask(member) == ""
        request_id = path_of(requests).rpartition("/")[2]
        run_sync(requests.record(request_id, "declined", None, "", server.clock.seconds()))
    assert ask(member) == "throttled"


def test_texts_are_escaped_and_cleaned(member: Browser, operator: Browser, requests: Requests) -> None:
    ask(member, reason=HOSTILE)
    for path in ("/admin/quota-requests", path_of(requests)):
        operator.get(path)
        assert "<script>alert" not in operator.page
        assert "\u202e" not in operator.page


def test_an_operator_cannot_grant_the_own_request(
    server: Server, operator_account: Account, operator: Browser, requests: Requests
) -> None:
    ask(operator)
    path = path_of(requests)
    operator.get(path)
    assert operator.submit(f"{path}/grant", {"limit": "300"}) == "own_account"
    account = run_sync(server.accounts.find(operator_account.email))
    assert account is not None
    assert account.limit is None


def test_the_command_grants(directory: CommandLine) -> None:
    ann = run_sync(directory.accounts.add("ann@example.org")).id
    requests = Requests(directory.accounts._tables, (KIND,))
    request = Request("quota", ann, account=ann, details={"wanted": 500})
    added = run_sync(requests.add(request, "Agents.", 1.0))
    (listed,) = json.loads(directory.succeed("quota-request", "list", "--json"))
    assert (listed["email"], listed["wanted"], listed["text"]) == ("ann@example.org", 500, "Agents.")
    assert "is approved" in directory.run("quota-request", "grant", added, "300").stderr
    account = run_sync(directory.accounts.find("ann@example.org"))
    assert account is not None
    assert account.limit == 300


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_page_says_what_costs(member: Browser, language: str) -> None:
    member.get(f"{QUOTA}?lang={language}")
    assert "20" in member.text
    assert member.page.count("<dt>") == 2
