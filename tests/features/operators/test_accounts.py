"""Operator pages of accounts."""

from __future__ import annotations

import re

import pytest

from directory_server.domain.accounts import Account
from directory_server.features.operators import web
from directory_server.runtime.run_sync import run_sync

from ...web.browsers import PASSWORD, Browser, invite
from ...web.conftest import Server
from ._pages import MAX_BYTES


def test_many_accounts_are_not_counted(server: Server, operator: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    run_sync(server.accounts.register("eve@example.org", "hash", most=5))
    run_sync(server.accounts.register("bob@example.org", "hash", most=5))
    run_sync(server.keys.create("laptop", limit=20, expires_at=None))
    monkeypatch.setattr(web, "MAX_COUNTED", 2)
    operator.get("/admin")
    numbers = re.findall("<dd>([^<]*)</dd>", operator.page.partition('aria-labelledby="access"')[2])
    assert numbers[:3] == ["more than 2", "0", "2"]


def test_accounts_are_searched_and_paged(server: Server, operator: Browser) -> None:
    for number in range(45):
        server.clock.advance(1)
        run_sync(server.accounts.add(f"user{number:02}@example.net"))
    seen: list[str] = []
    path = "/admin/accounts?q=USER"
    while path:
        response = operator.get(path)
        assert len(response.body) < MAX_BYTES
        seen += re.findall(r"user\d+@example.net", operator.page)
        following = re.search(r'href="([^"]*)" rel="next"', operator.page)
        path = following[1].replace("&amp;", "&") if following else ""
    assert seen == [f"user{number:02}@example.net" for number in reversed(range(45))]
    operator.get("/admin/accounts?q=nobody")
    assert "Nothing found" in operator.text


def test_approves_an_account(server: Server, operator: Browser) -> None:
    eve = run_sync(server.accounts.register("eve@example.org", "hash", most=5))
    path = f"/admin/accounts/{eve.id}"
    operator.get(path)
    operator.follow(operator.post(f"{path}/approve"))
    assert "Account approved." in operator.text
    assert "State Active" in operator.text
    found = run_sync(server.accounts.find(eve.email))
    assert found is not None
    assert found.approved


def test_makes_a_member_an_auditor_and_no_operator(
    server: Server, ann: Account, operator_account: Account, operator: Browser
) -> None:
    def role_of(email: str) -> str:
        account = run_sync(server.accounts.find(email))
        assert account is not None
        return account.role

    path = f"/admin/accounts/{ann.id}"
    operator.get(path)
    assert operator.submit(f"{path}/role", {"role": "auditor"}) == ""
    assert "Role Auditor" in operator.text
    assert role_of(ann.email) == "auditor"
    assert operator.submit(f"{path}/role", {"role": "operator"}) == "choice_wrong"
    assert role_of(ann.email) == "auditor"
    assert operator.submit(f"{path}/role", {"role": "member"}) == ""
    assert role_of(ann.email) == "member"
    assert operator.submit(f"/admin/accounts/{operator_account.id}/role", {"role": "member"}) == "operator_role"
    assert role_of(operator_account.email) == "operator"


def test_invites_a_member(server: Server, operator: Browser, browser: Browser) -> None:
    operator.get("/admin/accounts")
    operator.follow(operator.post("/admin/accounts", {"email": "new@example.org"}))
    [unused] = re.findall(r"(/account/invitation/[\w-]+)<", operator.page)
    mail = 'href="mailto:new%40example.org?subject=Your%20account%20at%20MCP%20directory&amp;body=http%3A//localhost'
    assert f"{mail}{unused}" in operator.page
    account = run_sync(server.accounts.find("new@example.org"))
    assert account is not None
    assert account.role == "member"
    operator.get(f"/admin/accounts/{account.id}")
    operator.follow(operator.post(f"/admin/accounts/{account.id}/link"))
    [path] = re.findall(r"(/account/invitation/[\w-]+)<", operator.page)
    assert browser.get(unused).status == 404
    browser.get(path)
    assert browser.follow(browser.post(path, {"password": PASSWORD})).status == 200
    assert "API keys" in browser.text


def test_the_link_of_an_operator_leads_to_the_overview(server: Server, browser: Browser) -> None:
    path = invite(server, "new@example.org")
    account = run_sync(server.accounts.find("new@example.org"))
    assert account is not None
    run_sync(server.accounts.set_role(account.id, "operator"))
    browser.get(path)
    browser.follow(browser.post(path, {"password": PASSWORD}))
    assert "Next steps" in browser.text


def test_a_wrong_address_is_not_invited(server: Server, operator: Browser, ann: Account) -> None:
    operator.get("/admin/accounts")
    for email, error in ((ann.email, "email_taken"), ("nobody", "email_wrong")):
        assert operator.submit("/admin/accounts", {"email": email}) == error
        assert f'value="{email}"' in operator.page


def test_the_pages_have_no_links_for_operators(server: Server, operator_account: Account, operator: Browser) -> None:
    path = f"/admin/accounts/{operator_account.id}"
    operator.get(path)
    assert f"{path}/link" not in operator.page
    operator.get("/account/keys")
    assert operator.submit(f"{path}/link") == "operator_link"


def test_disables_an_account_after_a_confirmation_and_enables_it(
    server: Server, ann: Account, member: Browser, operator: Browser
) -> None:
    path = f"/admin/accounts/{ann.id}"
    operator.get(path)
    assert f"{path}/disable" in operator.page
    operator.get(f"{path}/disable")
    assert "Disable this account?" in operator.text
    assert member.get("/account/keys").status == 200
    operator.follow(operator.post(f"{path}/disable"))
    assert "Account disabled." in operator.text
    assert member.get("/account/keys").status == 303
    operator.follow(operator.post(f"{path}/enable"))
    assert "Account enabled." in operator.text
    assert member.try_sign_in() == ""


def test_an_operator_cannot_disable_the_own_account(
    server: Server, operator_account: Account, operator: Browser
) -> None:
    path = f"/admin/accounts/{operator_account.id}"
    operator.get(path)
    assert f"{path}/disable" not in operator.page
    operator.get("/account/keys")
    assert operator.submit(f"{path}/disable") == "own_account"
    assert operator.get("/admin").status == 200


def test_the_page_of_an_account_lists_its_keys(server: Server, ann: Account, operator: Browser) -> None:
    for number in range(60):
        run_sync(server.keys.create(f"key {number}", limit=20, expires_at=None, owner=ann.id))
    response = operator.get(f"/admin/accounts/{ann.id}")
    assert len(response.body) < MAX_BYTES
    assert len(re.findall(r"key \d", operator.text)) == 50
    assert "All 60 keys" in operator.text


def test_sets_the_limit_of_all_keys_of_an_account(
    server: Server, ann: Account, operator_account: Account, operator: Browser
) -> None:
    run_sync(server.keys.create("laptop", limit=20, expires_at=None, owner=ann.id))
    path = f"/admin/accounts/{ann.id}"
    operator.get(path)
    operator.follow(operator.post(f"{path}/limit", {"limit": "500"}))
    assert "Limit of all keys changed." in operator.text
    assert "500 requests in 60 minutes" in operator.text
    for wrong in ("0", "unlimited", "1.5", "9" * 30):
        operator.get(path)
        assert operator.submit(f"{path}/limit", {"limit": wrong}) == "limit_wrong"
        assert 'aria-invalid="true"' in operator.page
    own = f"/admin/accounts/{operator_account.id}"
    operator.get(own)
    assert f"{own}/limit" not in operator.page
    operator.get("/account/keys")
    assert operator.submit(f"{own}/limit", {"limit": "500"}) == "own_limit"
