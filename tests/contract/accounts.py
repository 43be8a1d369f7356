"""Contract of Accounts."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from attrs import evolve

from directory_server.domain.accounts import Account
from directory_server.domain.errors import BadInput, NotFound, TooManyAccounts
from directory_server.domain.keys import Client
from directory_server.tables import StoredAccounts, StoredSessions

from . import ContractWithClock, awaited

HOUR = 3600.0

IDLE = 8 * HOUR
"""Idle timeout of the sessions under test, in seconds."""

LAPTOP, PHONE = Client("192.0.2.0/24", "Firefox (Linux)"), Client("2001:db8:1::/48", "Safari (iOS)")

ABSOLUTE = 24 * HOUR
"""Absolute lifetime of the sessions under test, in seconds."""


class WithAccounts(ContractWithClock):
    """Subclasses define how to open accounts and sessions."""

    async def accounts_and_sessions(self, now: Callable[[], float]) -> tuple[StoredAccounts, StoredSessions]:
        """Return both, with the timeouts IDLE and ABSOLUTE; each call acts as another process with the same data."""
        raise NotImplementedError

    async def open(self) -> tuple[StoredAccounts, StoredSessions]:
        return await self.accounts_and_sessions(self.clock.seconds)

    async def open_with_ann(self) -> tuple[StoredAccounts, StoredSessions, Account]:
        accounts, sessions = await self.open()
        ann = await accounts.add("ann@example.org")
        await accounts.set_password(ann.id, "hash")
        return accounts, sessions, evolve(ann, active=True)


class AccountsContract(WithAccounts):
    """Accounts, their passwords, links, roles and states."""

    @awaited
    async def test_creates_an_account_without_a_password(self) -> None:
        accounts, _ = await self.open()
        ann = await accounts.add(" Ann@Example.org ")
        assert ann == Account(ann.id, "ann@example.org", 1_000_000.0, False, None)
        assert await accounts.find("ANN@example.ORG") == ann
        assert await accounts.password(ann.id) is None
        assert list(await accounts.list()) == [ann]

    @pytest.mark.parametrize(
        "email",
        [
            "",
            "ann",
            "@example.org",
            "ann@",
            "a b@example.org",
            "a\nb@c",
            "a\0b@c.d",
            "a\udc80b@c.d",
            f"{'a' * 251}@b.c",
        ],
    )
    @awaited
    async def test_rejects_an_invalid_address(self, email: str) -> None:
        accounts, _ = await self.open()
        with pytest.raises(BadInput, match="email: must be an address such as"):
            await accounts.add(email)
        assert await accounts.find(email) is None
        assert list(await accounts.list()) == []

    @awaited
    async def test_rejects_a_taken_address(self) -> None:
        accounts, _ = await self.open()
        await accounts.add("ann@example.org")
        with pytest.raises(BadInput, match=r"'ann@example\.org' has an account already"):
            await accounts.add("ANN@example.org")

    @awaited
    async def test_raises_not_found_for_an_unknown_account(self) -> None:
        accounts, _ = await self.open()
        for call in (
            accounts.set_password("nosuchid", "hash"),
            accounts.disable("nosuchid"),
            accounts.enable("nosuchid"),
            accounts.link("nosuchid", lifetime=HOUR),
        ):
            with pytest.raises(NotFound, match="nosuchid"):
                await call

    @awaited
    async def test_sets_a_password_by_a_link_once(self) -> None:
        accounts, _ = await self.open()
        other, _ = await self.open()
        ann = await accounts.add("ann@example.org")
        token = await accounts.link(ann.id, lifetime=HOUR)
        assert await accounts.linked(token) == await accounts.linked(token) == ann
        active = await accounts.redeem(token, "hash")
        assert active == evolve(ann, active=True)
        assert await accounts.password(ann.id) == "hash"
        assert await other.linked(token) is None
        with pytest.raises(NotFound, match="unknown, used or expired"):
            await other.redeem(token, "another hash")
        assert await accounts.password(ann.id) == "hash"

    @awaited
    async def test_a_link_expires(self) -> None:
        accounts, _ = await self.open()
        ann = await accounts.add("ann@example.org")
        token = await accounts.link(ann.id, lifetime=HOUR)
        self.clock.advance(HOUR)
        assert await accounts.linked(token) is None
        with pytest.raises(NotFound):
            await accounts.redeem(token, "hash")

    @awaited
    async def test_a_new_link_replaces_the_previous_one(self) -> None:
        accounts, _ = await self.open()
        ann = await accounts.add("ann@example.org")
        first = await accounts.link(ann.id, lifetime=HOUR)
        second = await accounts.link(ann.id, lifetime=HOUR)
        assert await accounts.linked(first) is None
        assert await accounts.linked(second) == ann

    @pytest.mark.parametrize("token", ["", "no such link", "\udc80", "é"])
    @awaited
    async def test_finds_no_link_and_no_session_by_an_invalid_token(self, token: str) -> None:
        accounts, sessions = await self.open()
        assert await accounts.linked(token) is None
        assert await sessions.find(token) is None
        await sessions.close(token)

    @awaited
    async def test_disabling_an_account_ends_all_access(self) -> None:
        accounts, sessions, ann = await self.open_with_ann()
        token, session = await accounts.link(ann.id, lifetime=HOUR), await sessions.open(ann.id)
        await accounts.disable(ann.id)
        disabled = evolve(ann, disabled_at=1_000_000.0)
        self.clock.advance(1)
        await accounts.disable(ann.id)
        assert await accounts.find("ann@example.org") == disabled
        assert await accounts.password(ann.id) is None
        assert await accounts.linked(token) is None
        assert await sessions.find(session) is None
        with pytest.raises(BadInput, match="disabled"):
            await accounts.link(ann.id, lifetime=HOUR)
        # A session that a concurrent request opens is invalid.
        session = await sessions.open(ann.id)
        assert await sessions.find(session) is None

    @awaited
    async def test_enables_an_account_without_its_old_sessions_and_links(self) -> None:
        accounts, sessions, ann = await self.open_with_ann()
        token, session = await accounts.link(ann.id, lifetime=HOUR), await sessions.open(ann.id)
        await accounts.disable(ann.id)
        await accounts.enable(ann.id)
        assert await accounts.find("ann@example.org") == ann
        assert await accounts.password(ann.id) == "hash"
        assert await accounts.linked(token) is None
        assert await sessions.find(session) is None

    @awaited
    async def test_a_registered_account_is_pending(self) -> None:
        accounts, _ = await self.open()
        ann = await accounts.register(" Ann@Example.org ", "hash", most=1)
        assert ann == Account(ann.id, "ann@example.org", 1_000_000.0, True, None, False)
        assert await accounts.password(ann.id) == "hash"
        with pytest.raises(TooManyAccounts):
            await accounts.register("bob@example.org", "hash", most=1)
        # Accounts of the operator are not counted.
        await accounts.add("cy@example.org")
        with pytest.raises(BadInput, match="has an account already"):
            await accounts.register("ann@example.org", "hash", most=2)
        with pytest.raises(BadInput, match="email: must be"):
            await accounts.register("ann", "hash", most=2)
        await accounts.approve(ann.id)
        await accounts.approve(ann.id)
        assert await accounts.find("ann@example.org") == evolve(ann, approved=True)
        await accounts.register("bob@example.org", "hash", most=1)
        with pytest.raises(NotFound, match="nosuchid"):
            await accounts.approve("nosuchid")

    @awaited
    async def test_an_approved_account_becomes_an_operator_and_a_member_again(self) -> None:
        accounts, sessions, ann = await self.open_with_ann()
        other, _ = await self.open()
        token = await sessions.open(ann.id)
        assert (ann.role, ann.is_operator) == ("member", False)
        await accounts.set_role(ann.id, "operator")
        assert await other.find(ann.email) == evolve(ann, role="operator")
        signed_in = await sessions.find(token)
        assert signed_in is not None
        assert signed_in.is_operator
        await accounts.set_role(ann.id, "member")
        assert await sessions.find(token) == ann
        with pytest.raises(NotFound, match="nosuchid"):
            await accounts.set_role("nosuchid", "operator")

    @awaited
    async def test_a_pending_account_cannot_be_an_operator(self) -> None:
        accounts, _ = await self.open()
        bob = await accounts.register("bob@example.org", "hash", most=5)
        with pytest.raises(BadInput, match="not approved"):
            await accounts.set_role(bob.id, "operator")
        assert await accounts.find(bob.email) == bob

    @awaited
    async def test_sets_the_limit_of_an_account(self) -> None:
        accounts, _, ann = await self.open_with_ann()
        other, _ = await self.open()
        assert ann.limit is None
        await accounts.set_limit(ann.id, 500)
        assert await other.find(ann.email) == evolve(ann, limit=500)
        with pytest.raises(NotFound, match="nosuchid"):
            await accounts.set_limit("nosuchid", 500)
        for limit in (0, 10**10):
            with pytest.raises(BadInput, match="limit"):
                await accounts.set_limit(ann.id, limit)

    @awaited
    async def test_removes_only_accounts_that_are_unused_and_not_approved(self) -> None:
        accounts, sessions = await self.open()
        ann, bob, cy, dan = [await accounts.register(f"{n}@example.org", "hash", most=9) for n in ("a", "b", "c", "d")]
        await accounts.add("eve@example.org")
        await accounts.approve(bob.id)
        await accounts.disable(cy.id)
        session = await sessions.open(dan.id)
        link = await accounts.link(ann.id, lifetime=HOUR)
        begin = self.clock.seconds()
        self.clock.advance(2 * HOUR)
        assert await sessions.find(session) == dan
        assert [each.id for each in await accounts.unused(begin, after="", limit=9)] == [ann.id]
        assert list(await accounts.unused(begin - 1, after="", limit=9)) == []
        assert list(await accounts.unused(begin, after=ann.id, limit=9)) == []
        assert not any([await accounts.remove(each.id, before=begin) for each in (bob, cy, dan)])
        assert not await accounts.remove("nosuchid", before=begin)
        assert not await accounts.remove(ann.id, before=begin - 1)
        assert await accounts.remove(ann.id, before=begin)
        assert await accounts.find("a@example.org") is None
        assert await accounts.linked(link) is None
        assert len(await accounts.list()) == 4

    @awaited
    async def test_pages_unused_accounts(self) -> None:
        accounts, _ = await self.open()
        created = [(await accounts.register(f"{n}@example.org", "hash", most=9)).id for n in range(5)]
        now, seen, after = self.clock.seconds(), list[str](), ""
        while page := await accounts.unused(now, after=after, limit=2):
            seen += [each.id for each in page]
            after = seen[-1]
        assert seen == sorted(created)

    @awaited
    async def test_a_deleted_account_and_its_access_are_gone(self) -> None:
        accounts, sessions, ann = await self.open_with_ann()
        bob = await accounts.add("bob@example.org", "hash")
        session, link = await sessions.open(ann.id), await accounts.link(ann.id, lifetime=HOUR)
        of_bob = await sessions.open(bob.id)
        await accounts.delete(ann.id)
        assert await accounts.find("ann@example.org") is None
        assert await accounts.password(ann.id) is None
        assert await accounts.linked(link) is None
        assert await sessions.find(session) is None
        assert list(await accounts.list()) == [await sessions.find(of_bob)]
        for unknown in (ann.id, "nosuchid", "\0"):
            with pytest.raises(NotFound):
                await accounts.delete(unknown)
        assert (await accounts.add("ann@example.org")).id != ann.id
