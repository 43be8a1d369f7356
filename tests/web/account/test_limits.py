"""Limits of sign-ins, invitation links and keys per account, address and network."""

from __future__ import annotations

import pytest

from directory_server.domain.accounts import Account
from directory_server.runtime.run_sync import run_sync

from ..conftest import RecordingHasher, Server
from .conftest import ANN, Browser

NETWORKS = pytest.mark.parametrize("near", ["192.0.2.{}", "2001:db8:1:{}::1"], ids=["IPv4, /24", "IPv6, /48"])


@NETWORKS
def test_sign_ins_are_limited_by_network_and_account(server: Server, ann: Account, near: str) -> None:
    for email in (ANN, "nobody@example.org"):
        codes = []
        for number in range(12):
            browser = Browser(server, near.format(number))
            codes.append(browser.try_sign_in(email.upper() if number % 2 else email, "wrong password"))
        assert codes == ["sign_in_refused"] * 10 + ["throttled"] * 2
    hashes = len(server.passwords.verified)
    browser = Browser(server, near.format(99))
    assert browser.try_sign_in() == "throttled"
    assert "Too many attempts. Try again in 60 seconds." in browser.text
    assert len(server.passwords.verified) == hashes
    server.clock.advance(60)
    assert Browser(server, near.format(99)).try_sign_in() == ""


@NETWORKS
def test_failed_sign_ins_from_another_network_do_not_lock_out_the_owner(
    server: Server, ann: Account, near: str
) -> None:
    for number in range(50):
        Browser(server, near.format(number)).sign_in(password="wrong password")
    assert Browser(server, "198.51.100.1").try_sign_in() == ""


def test_password_hashing_is_attributed_to_the_network(
    server: Server, ann: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    clients: list[str] = []

    async def record_client(self: object, *_: object, client: str) -> bool:
        clients.append(client)
        return False

    monkeypatch.setattr(RecordingHasher, "verify", record_client)
    Browser(server, "192.0.2.1").sign_in()
    Browser(server, "2001:db8:1:2::3").sign_in()
    assert clients == ["192.0.2.0/24", "2001:db8:1::/48"]


def test_sign_ins_are_limited_by_account(server: Server, ann: Account) -> None:
    codes = [
        Browser(server, f"198.51.{network}.{host}").try_sign_in(password="wrong password")
        for network in range(11)
        for host in range(10)
    ]
    assert codes == ["sign_in_refused"] * 100 + ["throttled"] * 10
    assert Browser(server, "192.0.2.1").try_sign_in() == "throttled"
    server.clock.advance(12)
    assert Browser(server, "192.0.2.1").try_sign_in() == ""


def test_sign_ins_are_limited_by_address(server: Server, ann: Account) -> None:
    codes = [Browser(server).try_sign_in(f"{number}@example.org", "wrong") for number in range(12)]
    assert codes == ["sign_in_refused"] * 10 + ["throttled"] * 2
    assert Browser(server, "192.0.2.1").try_sign_in() == ""


def test_invitation_links_are_limited_by_address(server: Server) -> None:
    statuses = [Browser(server).get(f"/account/invitation/{number}").status for number in range(12)]
    assert statuses == [404] * 10 + [429] * 2


def test_key_creation_is_limited_by_account(server: Server, ann: Account, member: Browser) -> None:
    codes = []
    for _ in range(12):
        member.get("/account/keys")
        codes.append(member.submit("/account/keys", {"label": "x"}))
        for key in run_sync(server.keys.list(ann.id)):
            run_sync(server.keys.revoke(key.id))
        server.clock.advance(0)
    # Revoked keys count for one hour, so new keys do not bring new quota.
    assert codes == [""] * 5 + ["too_many_keys"] * 5 + ["throttled"] * 2


def test_renaming_is_limited_by_account(server: Server, ann: Account, member: Browser) -> None:
    member.create_key()
    (key,) = run_sync(server.keys.list(ann.id))
    codes = []
    for number in range(11):
        member.get("/account/keys")
        codes.append(member.submit(f"/account/keys/{key.id}/rename", {"label": str(number)}))
    assert codes == [""] * 9 + ["throttled"] * 2
    assert [key.label for key in run_sync(server.keys.list(ann.id))] == ["8"]
