"""The page of a new secret: it is shown once, to the session that created it."""

from __future__ import annotations

import pytest

from directory_server.domain.accounts import Account
from directory_server.runtime.run_sync import run_sync

from ..conftest import Server
from .conftest import SEARCH, Browser, account_of, key_of


def test_the_secret_page_has_no_language_links(server: Server, ann: Account, member: Browser) -> None:
    member.create_key()
    assert "?lang=" not in member.page
    member.get("/account/keys")
    assert "?lang=zh" in member.page
    assert member.follow(member.post(f"/account/keys/{key_of(server, ann)}/rotate")).status == 200
    assert "?lang=" not in member.page


@pytest.mark.parametrize("rotated", [False, True], ids=["created", "rotated"])
def test_reloading_the_secret_page_shows_no_secret(
    server: Server, ann: Account, member: Browser, rotated: bool
) -> None:
    member.get("/account/keys")
    response = member.post("/account/keys", {"label": "laptop"})
    if rotated:
        member.follow(response)
        member.get("/account/keys")
        response = member.post(f"/account/keys/{key_of(server, ann)}/rotate")
    key_id = key_of(server, ann)
    assert (response.status, response.headers["Location"]) == (303, f"/account/keys/{key_id}/secret")
    assert b"mcpd_" not in response.body
    assert member.follow(response).status == 200
    secret = member.secret
    for _ in range(2):
        assert member.follow(response).status == 410
        assert "Secret already shown" in member.text
        assert "mcpd_" not in member.page
    (key,) = run_sync(server.keys.list(ann.id))
    assert key.last_four == secret[-4:]
    assert server.get(SEARCH, key=secret).status == 200


def test_only_the_creating_session_sees_a_new_secret(server: Server, ann: Account, member: Browser) -> None:
    other = Browser(server)
    other.sign_in()
    account_of(server, "bob@example.org")
    bob = Browser(server)
    bob.sign_in("bob@example.org")
    member.get("/account/keys")
    response = member.post("/account/keys", {"label": "laptop"})
    path = response.headers["Location"]
    assert other.get(path).status == 410
    assert bob.get(path).status == 404
    assert Browser(server).get(path).status == 303
    assert member.request("HEAD", path).status == 200
    assert member.follow(response).status == 200
    assert member.secret
