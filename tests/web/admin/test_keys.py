"""Operator pages of keys."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from directory_server.domain.accounts import Account
from directory_server.run_sync import run_sync

from ..conftest import Server
from ._pages import HOSTILE, hits
from .conftest import ANN, Browser


def test_changes_the_limit_of_a_key(server: Server, operator: Browser) -> None:
    path = f"/admin/keys/{server.key_id}"
    hits(server, "postgres")
    operator.get(path)
    assert "Last 60 minutes: 1 of 20" in operator.text
    operator.follow(operator.post(f"{path}/limit", {"limit": "500"}))
    assert "Limit changed." in operator.text
    assert server.get("/api/open/v1/search?keywords=mail").headers["X-RateLimit-Limit"] == "500"
    operator.follow(operator.post(f"{path}/limit", {"limit": "unlimited"}))
    assert "No request limit" in operator.text


@pytest.mark.parametrize("limit", ["0", "-1", "1.5", "many", "", "9" * 30, "٣", HOSTILE])
def test_rejects_an_invalid_limit(server: Server, operator: Browser, limit: str) -> None:
    path = f"/admin/keys/{server.key_id}"
    operator.get(path)
    assert operator.submit(f"{path}/limit", {"limit": limit}) == "limit_wrong"
    assert 'aria-invalid="true"' in operator.page
    assert "<script>alert" not in operator.page
    assert run_sync(server.keys.list())[0].limit == 20


def test_finds_and_revokes_a_key_after_a_confirmation(server: Server, ann: Account, operator: Browser) -> None:
    key, secret = run_sync(server.keys.create("laptop", limit=20, expires_at=None, owner=ann.id))
    for text in ("LAPTOP", "ann@", key.id):
        operator.get(f"/admin/keys?q={quote(text)}")
        assert f"/admin/keys/{key.id}" in operator.page
        assert server.key_id not in operator.page
    assert secret not in operator.page
    operator.get(f"/admin/keys/{key.id}/revoke")
    assert ANN in operator.text
    operator.follow(operator.post(f"/admin/keys/{key.id}/revoke"))
    assert "Key revoked." in operator.text
    assert server.get("/api/open/v1/search?keywords=mail", key=secret).status == 401
    assert operator.get(f"/admin/keys/{key.id}").status == 404
