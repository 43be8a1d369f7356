"""Operator pages of keys."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from directory_server.domain.accounts import Account
from directory_server.runtime.run_sync import run_sync

from ...web.browsers import ANN, PASSWORD, SEARCH, Browser, key_of
from ...web.conftest import Server
from ._pages import HOSTILE, hits


def test_changes_the_limit_of_a_key(server: Server, ann: Account, operator: Browser) -> None:
    path = f"/admin/keys/{server.key_id}"
    hits(server, "postgres")
    operator.get(path)
    assert "Used in the last 60 minutes 1 Requests in 60 minutes 20" in operator.text
    operator.follow(operator.post(f"{path}/limit", {"limit": "500"}))
    assert "Limit changed." in operator.text
    assert server.get("/api/open/v1/search?keywords=mail").headers["X-RateLimit-Limit"] == "500"
    operator.follow(operator.post(f"{path}/limit", {"limit": "unlimited"}))
    assert "Requests in 60 minutes Unlimited" in operator.text
    key, _ = run_sync(server.keys.create("laptop", limit=20, expires_at=None, owner=ann.id))
    assert operator.submit(f"/admin/keys/{key.id}/limit", {"limit": "500"}) == ""


def test_a_stolen_session_leaves_a_key_with_the_limit_of_members(
    server: Server, operator_account: Account, operator: Browser
) -> None:
    thief = Browser(server)
    thief.cookies = dict(operator.cookies)
    secret = thief.create_key()
    path = f"/admin/keys/{key_of(server, operator_account)}"
    thief.get(path)
    assert f"{path}/limit" not in thief.page
    thief.get("/account/keys")
    assert thief.submit(f"{path}/limit", {"limit": "unlimited"}) == "own_key"
    operator.get("/account/password")
    operator.follow(operator.post("/account/password", {"old": PASSWORD, "password": "another long phrase"}))
    assert thief.get("/admin").status == 303
    run_sync(server.accounts.set_role(operator_account.id, "member"))
    response = server.get(SEARCH, key=secret)
    assert (response.status, response.headers["X-RateLimit-Limit"]) == (200, "20")


INVALID_LIMITS = ["0", "-1", "1.5", "many", "", "9" * 30, "٣", HOSTILE]


def test_rejects_an_invalid_limit(server: Server, operator: Browser, subtests: pytest.Subtests) -> None:
    path = f"/admin/keys/{server.key_id}"
    for limit in INVALID_LIMITS:
        with subtests.test(limit):
            operator.get(path)
            assert operator.submit(f"{path}/limit", {"limit": limit}) == "limit_wrong"
            assert 'aria-invalid="true"' in operator.page
            assert "<script>alert" not in operator.page
            assert (limit != "many") == ('value="many"' not in operator.page)
    assert run_sync(server.keys.list())[0].limit == 20


def test_finds_and_revokes_a_key_after_a_confirmation(server: Server, ann: Account, operator: Browser) -> None:
    key, secret = run_sync(server.keys.create("laptop", limit=20, expires_at=None, owner=ann.id))
    for text in ("LAPTOP", "ann@", key.id):
        operator.get(f"/admin/keys?q={quote(text)}")
        assert f"/admin/keys/{key.id}" in operator.page
        assert server.key_id not in operator.page
        assert "Valid" not in operator.text
    assert secret not in operator.page
    operator.get(f"/admin/keys/{key.id}")
    assert f"Owner {ANN}" in operator.text
    operator.follow(operator.post(f"/admin/keys/{key.id}/revoke"))
    assert "Key revoked." in operator.text
    assert server.get("/api/open/v1/search?keywords=mail", key=secret).status == 401
    assert operator.get(f"/admin/keys/{key.id}").status == 404
