"""Requests for the approval of accounts: what the person sees and may do, and what operators decide."""

from __future__ import annotations

import pytest

from directory_server.domain.accounts import REGISTRATION, Account
from directory_server.runtime.run_sync import run_sync
from directory_server.runtime.timers import Timer
from directory_server.tables import Requests

from ...web.browsers import PASSWORD, SEARCH, Browser
from ...web.conftest import Server
from ._pages import HOSTILE

KEYS, EVE = "/account/keys", "eve@example.org"

pytestmark = pytest.mark.parametrize("server", [{"accounts.registration": "open"}], indirect=True)


@pytest.fixture
def requests(server: Server) -> Requests:
    return Requests(server.application.storage.tables, (REGISTRATION,))


@pytest.fixture
def eve(server: Server) -> Browser:
    return registered(server, EVE, "I am Eve, of the data team.")


def registered(server: Server, email: str, text: str) -> Browser:
    browser = Browser(server)
    browser.get("/account/register")
    assert browser.submit("/account/register", {"email": email, "password": PASSWORD, "text": text}) == ""
    return browser


def open_path(operator: Browser, requests: Requests) -> str:
    """Return the path of the last open request, whose page the operator sees."""
    path = f"/admin/registrations/{run_sync(requests.list(is_open=True, limit=1))[0].id}"
    operator.get(path)
    return path


def account(server: Server, email: str = EVE) -> Account:
    registered = run_sync(server.accounts.find(email))
    assert registered is not None
    return registered


def test_a_person_answers_a_question_and_is_approved(
    server: Server, operator: Browser, eve: Browser, requests: Requests
) -> None:
    secrets = [eve.create_key(label) for label in ("laptop", "phone")]
    assert "Approval of your account: Waits for a decision" in eve.get(KEYS).body.decode()
    operator.get("/admin")
    assert "1 account waits for approval" in operator.text
    operator.get("/admin/registrations")
    for text in (EVE, "I am Eve, of the data team."):
        assert text in operator.text
    path = open_path(operator, requests)
    assert operator.submit(f"{path}/ask", {"text": "Who leads that team?"}) == ""
    eve.get(KEYS)
    for text in ("Waits for an answer", "Who leads that team?"):
        assert text in eve.text
    own = f"/account/registration/{path.rpartition('/')[2]}"
    assert eve.submit(f"{own}/answer", {"text": " "}) == "text_missing"
    assert eve.submit(f"{own}/answer", {"text": "x" * 281}) == "text_long"
    assert eve.submit(f"{own}/answer", {"text": "Ann."}) == ""
    assert "Answer sent." in eve.text
    operator.get(path)
    assert "Ann." in operator.text
    assert operator.submit(f"{path}/approve", {"text": "Welcome."}) == ""
    assert "Account approved." in operator.text
    assert account(server).approved
    assert [server.get(SEARCH, key=secret).headers["X-RateLimit-Remaining"] for secret in secrets] == ["19", "19"]
    eve.get(KEYS)
    assert "Approval of your account" not in eve.text
    operator.get("/admin")
    assert "waits for approval" not in operator.text
    operator.get("/admin/registrations?state=decided")
    assert EVE in operator.text


def test_a_declined_person_sees_the_reason_and_keeps_the_limits(
    server: Server, operator: Browser, eve: Browser, requests: Requests
) -> None:
    secret = eve.create_key()
    path = open_path(operator, requests)
    assert operator.submit(f"{path}/decline", {"text": "For colleagues only."}) == ""
    operator.get(KEYS)
    assert operator.submit(f"{path}/approve") == "decided"
    eve.get(KEYS)
    for text in ("Approval of your account: Declined", "For colleagues only."):
        assert text in eve.text
    assert f"/account/registration/{path.rpartition('/')[2]}" not in eve.page
    assert server.get(SEARCH, key=secret).status == 200
    # The operator may think again.
    operator.get(f"/admin/accounts/{account(server).id}")
    assert operator.submit(f"/admin/accounts/{account(server).id}/approve") == ""
    assert account(server).approved


def test_a_declined_account_can_be_disabled_at_once(
    server: Server, operator: Browser, eve: Browser, requests: Requests
) -> None:
    secret = eve.create_key()
    path = open_path(operator, requests)
    assert operator.submit(f"{path}/decline", {"disabled": "yes"}) == ""
    assert account(server).state == "disabled"
    assert server.get(SEARCH, key=secret).status == 401
    assert eve.get(KEYS).status == 303
    assert eve.try_sign_in(EVE) == "sign_in_refused"


def test_a_person_withdraws_only_the_own_request(
    server: Server, member: Browser, operator: Browser, eve: Browser, requests: Requests
) -> None:
    path = open_path(operator, requests)
    own = f"/account/registration/{path.rpartition('/')[2]}"
    mallory = registered(server, "mallory@example.org", "")
    for browser, action in ((member, "withdraw"), (mallory, "answer"), (operator, "withdraw"), (eve, "approve")):
        browser.get(KEYS)
        assert browser.submit(f"{own}/{action}", {"text": "x"}) == "not_found"
    assert mallory.get(path).status == mallory.get("/admin/registrations").status == 404
    assert eve.submit(f"{own}/withdraw") == ""
    assert "Approval of your account: Withdrawn" in eve.text
    assert eve.submit(f"{own}/withdraw") == "decided"
    assert "This request was decided" in eve.text
    assert not account(server).approved
    assert [request.account for request in run_sync(requests.list(is_open=True, limit=9))] == [
        account(server, "mallory@example.org").id
    ]


def test_the_page_of_an_account_decides_on_its_request(
    server: Server, operator: Browser, eve: Browser, requests: Requests
) -> None:
    operator.get(f"/admin/accounts/{account(server).id}")
    assert "Not approved" in operator.text
    assert operator.submit(f"/admin/accounts/{account(server).id}/approve") == ""
    assert run_sync(requests.of_account(account(server).id, 2))[0].state == "approved"


def test_an_account_of_an_earlier_version_gets_a_request(
    server: Server, operator: Browser, eve: Browser, requests: Requests
) -> None:
    tables = server.application.storage.tables
    run_sync(tables.run("DELETE FROM request RETURNING id"))
    for service in server.application.background:
        if isinstance(service, Timer):
            service.startService()
            service.stopService()
    assert operator.submit(f"{open_path(operator, requests)}/approve") == ""
    assert account(server).approved


def test_texts_are_escaped_and_cleaned(server: Server, operator: Browser, requests: Requests) -> None:
    mallory = registered(server, "mallory@example.org", f"{HOSTILE}\u202eo" + "\u0301" * 99)
    for browser, path in (
        (operator, "/admin/registrations"),
        (operator, open_path(operator, requests)),
        (mallory, KEYS),
    ):
        browser.get(path)
        assert "alert(1)" in browser.text
        assert "<script>alert" not in browser.page
        assert "\u202e" not in browser.page
        assert browser.page.count("\u0301") in (8, 16)


def test_a_long_text_is_rejected_before_the_registration_counts(server: Server) -> None:
    browser = Browser(server)
    for _ in range(4):
        browser.get("/account/register")
        values = {"email": EVE, "password": PASSWORD, "text": "x" * 281}
        assert browser.submit("/account/register", values) == "text_long"
        assert "x" * 281 in browser.page
    assert run_sync(server.accounts.find(EVE)) is None
    registered(server, EVE, "")
