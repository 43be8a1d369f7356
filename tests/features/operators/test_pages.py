"""Operator pages: overview, unknown objects, hostile texts and sizes."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from directory_server import __version__
from directory_server.domain.accounts import Account
from directory_server.run_sync import run_sync

from ...web.browsers import Browser, rename
from ...web.conftest import Server
from ._pages import HOSTILE, MAX_BYTES


def test_overview_shows_the_server(server: Server, operator: Browser) -> None:
    server.clock.advance(3_725)
    operator.get("/admin")
    assert f"Version {__version__}" in operator.text
    assert "Uptime 0 d 1 h 2 min" in operator.text
    assert "Entries 2" in operator.text
    assert "Open streams of keys 0" in operator.text
    stream = server.open("GET", "/api/open/v1/changes", headers={"Accept": "text/event-stream"})
    operator.get("/admin")
    assert "Open streams of keys 1" in operator.text
    stream.close()


@pytest.mark.parametrize("path", ["/admin/accounts/nosuchid", "/admin/keys/nosuchid", "/admin/entry?name=nothing"])
def test_unknown_objects_are_not_found(operator: Browser, path: str) -> None:
    assert operator.get(path).status == 404


def test_hostile_texts_of_accounts_and_keys_are_escaped(server: Server, operator: Browser) -> None:
    mallory = run_sync(server.accounts.register("mallory@example.org", "hash", most=5))
    rename(server, mallory.email, "<img/src=x>@example.org")
    key, _ = run_sync(server.keys.create(HOSTILE[:90], limit=20, expires_at=None, owner=mallory.id))
    paths = [
        "/admin/accounts",
        f"/admin/accounts/{mallory.id}",
        f"/admin/accounts/{mallory.id}/disable",
        "/admin/keys",
        f"/admin/keys/{key.id}",
        f"/admin/keys/{key.id}/revoke",
        f"/admin/accounts?q={quote(HOSTILE)}",
        f"/admin/keys?q={quote(HOSTILE)}&after={quote(HOSTILE)}",
        f"/admin/entry?name={quote(HOSTILE)}",
        f"/admin/entries?after={quote(HOSTILE)}",
        "/admin/accounts?after=%00&q=%FF%00",
        "/admin/keys?" + "a=1&" * 50,
    ]
    for path in paths:
        assert operator.get(path).status in (200, 404)
        assert "<script>alert" not in operator.page
        assert "<img/src" not in operator.page
        assert "<img src=x" not in operator.page


@pytest.mark.parametrize("language", ["en", "zh"])
def test_pages_are_small(server: Server, ann: Account, operator: Browser, language: str) -> None:
    for number in range(30):
        account = run_sync(server.accounts.add(f"{'x' * 230}{number}@example.org"))
        run_sync(server.keys.create("W" * 100, limit=None, expires_at=None, owner=account.id))
    for path in ("/admin", "/admin/accounts", "/admin/keys", "/admin/upstreams", "/admin/entries"):
        response = operator.get(f"{path}?lang={language}")
        assert response.status == 200
        assert len(response.body) < MAX_BYTES, path


def test_a_form_of_an_unknown_entry_shows_the_error_in_the_list(operator: Browser) -> None:
    operator.get("/account/keys")
    assert operator.submit("/admin/entry/disown", {"name": "x" * 201}) == "bad_request"
