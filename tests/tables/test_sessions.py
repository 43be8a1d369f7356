"""StoredSessions."""

from __future__ import annotations

import pytest
from attrs import evolve

from directory_server.domain.accounts import MAX_SESSIONS, USE_INTERVAL, BrowserSession, session_id
from directory_server.domain.errors import NotFound
from directory_server.domain.keys import Client

from ..contract import awaited
from .test_accounts import HOUR, IDLE, LAPTOP, PHONE, WithAccounts


class TestSessions(WithAccounts):
    """Browser sessions of accounts: how they are found, listed and ended."""

    @awaited
    async def test_closing_a_session_ends_it_in_every_process(self) -> None:
        _, sessions, ann = await self.open_with_ann()
        _, other = await self.open()
        first, second = await sessions.open(ann.id), await sessions.open(ann.id)
        await sessions.close(first)
        assert await other.find(first) is None
        assert await other.find(second) == ann

    @awaited
    async def test_setting_the_password_ends_every_session(self) -> None:
        accounts, sessions, ann = await self.open_with_ann()
        bob = await accounts.add("bob@example.org")
        of_ann = [await sessions.open(ann.id) for _ in range(2)]
        of_bob = await sessions.open(bob.id)
        await accounts.set_password(ann.id, "another hash")
        assert [await sessions.find(each) for each in of_ann] == [None, None]
        assert await sessions.find(of_bob) == bob
        again = await sessions.open(ann.id)
        await accounts.redeem(await accounts.link(ann.id, lifetime=HOUR), "a third hash")
        assert await sessions.find(again) is None

    @awaited
    async def test_deleting_a_password_ends_every_session_and_link(self) -> None:
        accounts, sessions, ann = await self.open_with_ann()
        session, link = await sessions.open(ann.id), await accounts.link(ann.id, lifetime=HOUR)
        await accounts.set_password(ann.id, None)
        assert await accounts.password(ann.id) is None
        assert await accounts.find("ann@example.org") == evolve(ann, active=False)
        assert await sessions.find(session) is None
        assert await accounts.linked(link) is None
        with pytest.raises(NotFound, match="nosuchid"):
            await accounts.set_password("nosuchid", None)

    @awaited
    async def test_an_idle_session_ends(self) -> None:
        _, sessions, ann = await self.open_with_ann()
        session = await sessions.open(ann.id)
        self.clock.advance(IDLE - 1)
        assert await sessions.find(session) == ann
        self.clock.advance(IDLE - 1)
        assert await sessions.find(session) == ann
        self.clock.advance(IDLE)
        assert await sessions.find(session) is None

    @awaited
    async def test_a_session_ends_after_its_absolute_lifetime(self) -> None:
        _, sessions, ann = await self.open_with_ann()
        session = await sessions.open(ann.id)
        for _ in range(23):
            self.clock.advance(HOUR)
            assert await sessions.find(session) == ann
        self.clock.advance(HOUR)
        assert await sessions.find(session) is None

    @awaited
    async def test_lists_the_sessions_of_an_account_the_last_used_first(self) -> None:
        accounts, sessions, ann = await self.open_with_ann()
        _, other = await self.open()
        bob = await accounts.add("bob@example.org")
        start = self.clock.seconds()
        first = await sessions.open(ann.id, LAPTOP)
        self.clock.advance(1)
        second = await sessions.open(ann.id)
        await sessions.open(bob.id, PHONE)
        assert list(await other.list(ann.id)) == [
            BrowserSession(session_id(second), start + 1, start + 1, Client()),
            BrowserSession(session_id(first), start, start, LAPTOP),
        ]
        self.clock.advance(USE_INTERVAL)
        assert await other.find(first, PHONE) == ann
        assert (await sessions.list(ann.id))[0] == BrowserSession(
            session_id(first), start, start + 1 + USE_INTERVAL, PHONE
        )
        assert list(await sessions.list("nosuchid")) == list(await sessions.list("a\0")) == []

    @awaited
    async def test_lists_no_session_that_has_ended(self) -> None:
        _, sessions, ann = await self.open_with_ann()
        await sessions.open(ann.id)
        self.clock.advance(IDLE)
        assert list(await sessions.list(ann.id)) == []
        for _ in range(5):
            self.clock.advance(IDLE / 2)
            kept = await sessions.open(ann.id)
            self.clock.advance(IDLE / 2)
            await sessions.find(kept)
        assert len(await sessions.list(ann.id)) == 1

    @awaited
    async def test_ends_one_session_of_the_account(self) -> None:
        accounts, sessions, ann = await self.open_with_ann()
        bob = await accounts.add("bob@example.org")
        one, two = await sessions.open(ann.id), await sessions.open(ann.id)
        for account_id, session in ((bob.id, one), (ann.id, bob.id), (ann.id, ""), (ann.id, "\0"), ("\0", one)):
            with pytest.raises(NotFound):
                await sessions.end(account_id, session_id(session) if session == one else session)
        await sessions.end(ann.id, session_id(one))
        assert [await sessions.find(each) for each in (one, two)] == [None, ann]
        with pytest.raises(NotFound):
            await sessions.end(ann.id, session_id(one))

    @awaited
    async def test_ends_all_other_sessions_of_the_account(self) -> None:
        accounts, sessions, ann = await self.open_with_ann()
        bob = await accounts.add("bob@example.org")
        of_ann = [await sessions.open(ann.id) for _ in range(3)]
        of_bob = await sessions.open(bob.id)
        await sessions.end_others("unknown")
        await sessions.end_others(of_ann[1])
        assert [await sessions.find(each) for each in of_ann] == [None, ann, None]
        assert await sessions.find(of_bob) == bob

    @awaited
    async def test_a_session_above_the_limit_ends_the_least_recently_used_one(self) -> None:
        accounts, sessions, ann = await self.open_with_ann()
        bob = await accounts.add("bob@example.org")
        of_bob = await sessions.open(bob.id)
        opened = []
        for _ in range(MAX_SESSIONS):
            opened.append(await sessions.open(ann.id))
            self.clock.advance(1)
        self.clock.advance(USE_INTERVAL)
        assert await sessions.find(opened[0]) == ann
        self.clock.advance(1)
        last = await sessions.open(ann.id)
        assert await sessions.find(opened[1]) is None
        assert [await sessions.find(each) for each in (*opened[2:], opened[0], last)] == [ann] * MAX_SESSIONS
        assert await sessions.find(of_bob) == bob
