"""Key pages."""

from __future__ import annotations

import pytest

from directory_server.domain.accounts import Account
from directory_server.runtime.run_sync import run_sync

from ..conftest import Server
from .conftest import ANN, SEARCH, Browser, account_of, key_of


def test_a_new_key_is_shown_once_and_authenticates(server: Server, ann: Account, member: Browser) -> None:
    secret = member.create_key("my laptop")
    assert server.get(SEARCH, key=secret).status == 200
    member.get("/account/keys")
    assert secret not in member.page
    assert f"…{secret[-4:]}" in member.text
    assert "my laptop" in member.text
    (key,) = run_sync(server.keys.list(ann.id))
    assert (key.label, key.limit, key.expires_at) == ("my laptop", 20, None)


@pytest.mark.parametrize(("expires", "days"), [("30", 30), ("90", 90), ("365", 365)])
def test_a_key_may_expire(server: Server, ann: Account, expires: str, days: int) -> None:
    member = Browser(server)
    member.sign_in()
    member.create_key(expires=expires)
    (key,) = run_sync(server.keys.list(ann.id))
    assert key.expires_at == server.clock.seconds() + days * 86_400


def test_an_expired_key_is_marked_as_expired(server: Server, member: Browser) -> None:
    secret = member.create_key(expires="30")
    server.clock.advance(30 * 86_400)
    member.sign_in()
    member.get("/account/keys")
    assert "Expired." in member.text
    assert "/rotate" not in member.page
    assert server.get(SEARCH, key=secret).status == 401


@pytest.mark.parametrize(
    ("fields", "code", "message"),
    [
        ({"label": ""}, "label_wrong", "The label must have 1 to 100 printable characters"),
        ({"label": "a" * 5_000}, "label_wrong", "The label must have 1 to 100 printable characters"),
        ({"label": "a\nb"}, "label_wrong", "The label must have 1 to 100 printable characters"),
        ({"label": "a", "expires": "7"}, "form_wrong", "Invalid form."),
    ],
)
def test_an_invalid_form_creates_no_key(
    server: Server, ann: Account, member: Browser, fields: dict[str, str], code: str, message: str
) -> None:
    member.get("/account/keys")
    assert member.submit("/account/keys", fields) == code
    assert message in member.text
    assert list(run_sync(server.keys.list(ann.id))) == []


def test_keys_per_account_are_limited(server: Server, ann: Account, member: Browser) -> None:
    for _ in range(5):
        member.create_key()
    member.get("/account/keys")
    assert 'action="/account/keys"' not in member.page
    assert member.submit("/account/keys", {"label": "one more"}) == "too_many_keys"
    assert "You have reached the limit of 5 keys. One hour after you revoke a key, you can create" in member.text
    assert len(run_sync(server.keys.list(ann.id))) == 5


def test_the_old_secret_works_during_the_grace_period(server: Server, ann: Account, member: Browser) -> None:
    old = member.create_key()
    server.get(SEARCH, key=old)
    member.get("/account/keys")
    assert member.follow(member.post(f"/account/keys/{key_of(server, ann)}/rotate")).status == 200
    assert "The old secret works for 24 more hours." in member.text
    new = member.secret
    assert new != old
    member.get("/account/keys")
    assert "Old secret Works until" in member.text
    assert server.get(SEARCH, key=new).headers["X-RateLimit-Remaining"] == "18"
    assert server.get(SEARCH, key=old).status == 200
    server.clock.advance(86_400)
    assert server.get(SEARCH, key=old).status == 401
    assert server.get(SEARCH, key=new).status == 200
    member.get("/account/keys")
    assert "Old secret" not in member.text


def test_an_account_begins_with_its_keys(server: Server, member: Browser) -> None:
    assert (member.get("/account").status, member.get("/account").headers["Location"]) == (303, "/account/keys")
    location = server.get("/account").headers["Location"]
    assert location is not None
    assert location.startswith("/account/sign-in")


def test_revocation_asks_for_confirmation(server: Server, ann: Account, member: Browser) -> None:
    secret = member.create_key("old phone")
    path = f"/account/keys/{key_of(server, ann)}/revoke"
    assert member.get(path).status == 200
    assert "“old phone” (ending in" in member.text
    assert server.get(SEARCH, key=secret).status == 200
    response = member.post(path)
    assert (response.status, response.headers["Location"]) == (303, "/account/keys")
    assert server.get(SEARCH, key=secret).status == 401
    member.follow(response)
    assert "Key revoked." in member.text
    assert "old phone" not in member.text
    member.get("/account/keys")
    assert "Key revoked." not in member.text


def test_keys_of_other_accounts_are_not_found(server: Server, ann: Account, member: Browser) -> None:
    secret = member.create_key()
    key_id = key_of(server, ann)
    account_of(server, "bob@example.org")
    bob = Browser(server)
    bob.sign_in("bob@example.org")
    bob.get("/account/keys")
    assert key_id not in bob.page
    csrf = bob.page
    for target in (key_id, server.key_id, "nosuchid"):
        assert bob.get(f"/account/keys/{target}/revoke").status == 404
        assert bob.get(f"/account/keys/{target}/rename").status == 404
        for form in ("revoke", "rotate", "rename"):
            bob.page = csrf
            assert bob.submit(f"/account/keys/{target}/{form}", {"label": "mine"}) == "not_found"
    assert server.get(SEARCH, key=secret).status == 200
    assert server.get(SEARCH).status == 200


def test_a_key_is_renamed(server: Server, ann: Account, member: Browser) -> None:
    secret = member.create_key("laptop")
    path = f"/account/keys/{key_of(server, ann)}/rename"
    member.get(path)
    assert 'value="laptop"' in member.page
    assert member.submit(path, {"label": " "}) == "label_wrong"
    assert "The label must have 1 to 100 printable characters." in member.text
    response = member.post(path, {"label": "desktop 桌面"})
    assert (response.status, response.headers["Location"]) == (303, "/account/keys")
    member.follow(response)
    assert "Key renamed." in member.text
    assert "desktop 桌面" in member.text
    assert "laptop" not in member.page.partition('<form method="post" action="/account/keys">')[0]
    assert server.get(SEARCH, key=secret).status == 200


def test_the_page_names_the_time_when_a_place_becomes_free(server: Server, ann: Account, member: Browser) -> None:
    for number in range(5):
        member.create_key(expires="30" if number else "never")
    server.clock.advance(60)
    member.get("/account/keys")
    # The first key to expire does so in 30 days, and counts for one more hour.
    assert "You have reached the limit of 5 keys. You can create another key at 2027-02-14 09:00 UTC" in member.text
    for key in list(run_sync(server.keys.list(ann.id)))[1:3]:
        run_sync(server.keys.revoke(key.id))
        server.clock.advance(60)
    member.get("/account/keys")
    assert "You can create another key at 09:01 UTC" in member.text
    server.clock.advance(3_600 - 121)
    member.get("/account/keys")
    assert "You can create another key at 09:01 UTC" in member.text
    server.clock.advance(1)
    member.get("/account/keys")
    assert "You have reached the limit" not in member.text
    assert member.submit("/account/keys", {"label": "sixth"}) == ""


def test_a_place_becomes_free_when_fewer_keys_count_than_are_allowed(
    server: Server, ann: Account, member: Browser
) -> None:
    now = server.clock.seconds()
    for number in range(7):
        run_sync(server.keys.create("k", limit=20, expires_at=now + 600 * (7 - number), owner=ann.id))
    member.get("/account/keys")
    # Of 7 keys 3 must end. The third does so 30 minutes from now, and counts for one more hour.
    assert "You have reached the limit of 5 keys. You can create another key at 09:30 UTC" in member.text


@pytest.mark.parametrize("server", [{"accounts.keys": 0}], indirect=True)
def test_an_account_without_places_has_no_form(member: Browser) -> None:
    member.get("/account/keys")
    assert "You have reached the limit of 0 keys." in member.text


@pytest.mark.parametrize("language", ["en", "zh"])
def test_pages_are_small(server: Server, ann: Account, language: str) -> None:
    member = Browser(server, **{"Accept-Language": language})
    member.sign_in()
    sizes = {}
    for number in range(5):
        member.create_key(f"{number} 编辑器 " + "W" * 80)
        sizes["new"] = len(member.page.encode())
    for page in ("keys", "connect", "sessions", "password", "delete", "sign-in"):
        sizes[page] = len(member.get(f"/account/{page}").body)
    # That of a new key has the configurations of all editors twice: with the key, and without it.
    assert sizes.pop("new") < 36_000
    assert max(sizes.values()) < 30_000, sizes


@pytest.mark.parametrize("path", ["/", "/?q=postgres", "/docs/browse", "/account/keys", "/account/password"])
def test_pages_of_members_are_not_compressed(member: Browser, path: str) -> None:
    # They have the address of the member, and search words or tokens of forms (BREACH).
    response = member.get(path, **{"Accept-Encoding": "gzip"})
    assert ANN in member.text
    assert response.headers["Content-Encoding"] is None
