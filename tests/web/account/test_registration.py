"""Registration and its limits."""

from __future__ import annotations

import pytest

from directory_server.domain.accounts import Account
from directory_server.runtime.run_sync import run_sync

from ..conftest import Server
from .conftest import PASSWORD, Browser, account_of

SEARCH = "/api/open/v1/search?keywords=postgres"
OPEN = pytest.mark.parametrize("server", [{"accounts.registration": "open"}], indirect=True)
HOUR, DAY = 3600, 86_400
THROTTLED = "registration_throttled"


def register(server: Server, email: str, address: str = "192.0.2.1", password: str = PASSWORD) -> tuple[Browser, str]:
    """Register; return the browser and the code of the error, "" if there is none."""
    browser = Browser(server, address)
    browser.get("/account/register")
    return browser, browser.submit("/account/register", {"email": email, "password": password})


def codes(server: Server, addresses: list[str]) -> list[str]:
    """Return the code of the error of one registration from each of these addresses."""
    return [
        register(server, f"user{number}-{id(addresses)}@example.org", each)[1] for number, each in enumerate(addresses)
    ]


def found(server: Server, email: str) -> Account | None:
    return run_sync(server.accounts.find(email))


@OPEN
def test_keys_of_a_pending_account_share_one_quota(server: Server) -> None:
    browser, _ = register(server, "ann@example.org")
    keys = [browser.create_key(label) for label in ("laptop", "phone")]
    responses = [server.get(SEARCH, key=key).status for key in keys * 11]
    assert (responses.count(200), responses.count(401)) == (20, 2)
    assert server.get("/api/open/v1/entries/x", key=keys[0]).headers["X-RateLimit-Remaining"] == "0"
    browser.get("/account/keys")
    assert browser.text.count("Last 60 minutes: 20 of 20 Next request at") == 2
    ann = found(server, "ann@example.org")
    assert ann
    run_sync(server.accounts.approve(ann.id))
    assert [server.get(SEARCH, key=key).headers["X-RateLimit-Remaining"] for key in keys] == ["19", "19"]


@OPEN
def test_a_pending_account_has_fewer_keys(server: Server) -> None:
    browser, _ = register(server, "ann@example.org")
    for label in ("laptop", "phone"):
        browser.create_key(label)
    browser.get("/account/keys")
    assert browser.submit("/account/keys", {"label": "third"}) == "too_many_keys"
    ann = found(server, "ann@example.org")
    assert ann
    run_sync(server.accounts.approve(ann.id))
    browser.create_key("third")


@OPEN
@pytest.mark.parametrize(
    ("language", "message"),
    [
        (
            "en",
            "You can start now: 2 keys, 20 searches in any 60 minutes. An operator may raise this. "
            "Unused accounts are deleted after 1 day.",
        ),
        (
            "zh",
            "您现在即可开始：2 个密钥， 任意 60 分钟内 20 次搜索。管理员可以提高此限额。 1 天未使用的账户将被删除。",
        ),
    ],
    ids=["en", "zh"],
)
def test_the_pages_show_the_limits_of_a_pending_account(server: Server, language: str, message: str) -> None:
    browser = Browser(server, **{"Accept-Language": language})
    browser.get("/account/register")
    assert message in browser.text
    browser.post("/account/register", {"email": "ann@example.org", "password": PASSWORD})
    browser.get("/account/keys")
    assert message in browser.text
    account_of(server, "bob@example.org")
    bob = Browser(server, **{"Accept-Language": language})
    bob.sign_in("bob@example.org")
    bob.get("/account/keys")
    assert message not in bob.text


@OPEN
def test_registrations_are_limited_by_address(server: Server) -> None:
    assert codes(server, ["192.0.2.1"] * 5) == [""] * 3 + [THROTTLED] * 2
    rejected, _ = register(server, "late@example.org")
    assert "Too many accounts were registered from your network. Try again in 8 hours." in rejected.text
    server.clock.advance(8 * HOUR)
    assert codes(server, ["192.0.2.1"] * 2) == ["", THROTTLED]


@OPEN
@pytest.mark.parametrize(
    ("network", "outside"),
    [
        ([f"192.0.2.{host}" for host in range(6)], "192.0.3.1"),
        ([f"2001:db8:1:{subnet:x}::1" for subnet in range(6)], "2001:db8:2::1"),
    ],
    ids=["IPv4, /24", "IPv6, /48"],
)
def test_registrations_are_limited_by_network(server: Server, network: list[str], outside: str) -> None:
    assert codes(server, network) == [""] * 5 + [THROTTLED]
    assert codes(server, [outside]) == [""]


@OPEN
def test_rejected_passwords_do_not_count_as_registrations(server: Server) -> None:
    for _ in range(4):
        assert register(server, "ann@example.org", password="short")[1] == "password_wrong"
    assert register(server, "ann@example.org")[1] == ""


@OPEN
def test_registration_closes_at_the_limit_of_pending_accounts(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    run_sync(server.accounts.register("first@example.org", "hash", most=1_000))
    for number in range(999):
        with server.database.connection() as connection:
            connection.execute(
                "INSERT INTO account (id, email, created_at) VALUES (?, ?, 0)", (f"a{number}", f"{number}@b")
            )
    browser, code = register(server, "ann@example.org")
    assert code == "registration_full"
    assert "Too many accounts are waiting for approval." in browser.text
    first = found(server, "first@example.org")
    assert first
    run_sync(server.accounts.approve(first.id))
    assert register(server, "ann@example.org")[1] == ""


@OPEN
def test_ipv6_addresses_of_one_64_count_as_one(server: Server) -> None:
    assert codes(server, [f"2001:db8::{host:x}" for host in range(1, 5)]) == [""] * 3 + [THROTTLED]
