"""Requests for accounts on both databases: each is changed together with its account."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any

import pytest

from directory_server.domain.accounts import REGISTRATION, Account
from directory_server.domain.errors import BadInput, NotFound, TooManyAccounts, Unavailable
from directory_server.tables import Registrations, StoredAccounts, _registrations

from ..contract import ContractWithClock, at_once, awaited
from .conftest import TablesTest, run_script

DAY = 86_400.0


class TestRegistrations(TablesTest, ContractWithClock):
    async def open(self) -> tuple[StoredAccounts, Registrations]:
        """Return what a process decides with."""
        tables = self.open_tables()
        return StoredAccounts(tables, self.clock.seconds), Registrations(tables, (REGISTRATION,))

    async def register(self, accounts: StoredAccounts, requests: Registrations, name: str) -> tuple[Account, str]:
        """Return a new account and the id of its request."""
        account = await accounts.register(f"{name}@example.org", "hash", most=99)
        return account, (await requests.of_account(account.id, 1))[0].id

    @awaited
    async def test_a_failed_decision_changes_neither_the_request_nor_the_account(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        accounts, requests = await self.open()
        _, asked = await self.register(accounts, requests, "ann")
        monkeypatch.setattr(_registrations, "APPROVE", "UPDATE account SET nothing = 1")
        with pytest.raises(Unavailable):
            await requests.record(asked, "approved", "amy", "", 1.0)
        assert (await requests.find(asked)).is_open
        monkeypatch.undo()
        await requests.record(asked, "approved", "amy", "Welcome.", 1.0)
        assert [(event.kind, event.account, event.text) for event in await requests.events(asked)][1:] == [
            ("approved", "amy", "Welcome.")
        ]
        ann = await accounts.find("ann@example.org")
        assert ann is not None
        assert ann.approved

    @awaited
    async def test_nobody_decides_on_the_request_of_a_deleted_account(self) -> None:
        accounts, requests = await self.open()
        ann, asked = await self.register(accounts, requests, "ann")
        await accounts.delete(ann.id)
        for event in ("approved", "declined", "question"):
            with pytest.raises(NotFound):
                await requests.record(asked, event, "amy", "Who?", 1.0)
        assert len(await requests.events(asked)) == 1

    @awaited
    async def test_a_request_waits_as_long_as_its_account(self) -> None:
        accounts, requests = await self.open()
        ann, asked = await self.register(accounts, requests, "ann")
        self.clock.advance(1_000 * DAY)
        assert await requests.expire(self.clock.seconds(), self.clock.seconds()) == []
        assert [request.id for request in await requests.list(is_open=True, limit=9)] == [asked]
        assert await accounts.remove(ann.id, before=self.clock.seconds())
        assert await requests.count() == 0
        await requests.expire(self.clock.seconds(), self.clock.seconds())
        with pytest.raises(NotFound):
            await requests.find(asked)

    @awaited
    async def test_an_account_that_is_enabled_again_waits_again(self) -> None:
        accounts, requests = await self.open()
        ann, closed = await self.register(accounts, requests, "ann")
        await accounts.disable(ann.id)
        for _ in range(2):
            await accounts.enable(ann.id)
        (added,) = await requests.list(is_open=True, limit=9)
        assert added.account == ann.id
        assert added.id != closed
        # Of a restored backup, accounts are disabled without an end of their requests.
        run_script(requests._tables, f"UPDATE account SET disabled_at = 1 WHERE id = '{ann.id}'")
        await accounts.enable(ann.id)
        bob = await accounts.add("bob@example.org")
        await accounts.disable(bob.id)
        await accounts.enable(bob.id)
        assert await requests.count() == 1

    @awaited
    async def test_declined_and_disabled_accounts_do_not_end_registration(self) -> None:
        accounts, requests = await self.open()
        for name in ("ann", "bob"):
            _, asked = await self.register(accounts, requests, name)
            await requests.record(asked, "declined", "amy", "", 1.0, {"disabled": True})
        await accounts.register("cy@example.org", "hash", most=1)
        with pytest.raises(TooManyAccounts):
            await accounts.register("dan@example.org", "hash", most=1)

    @awaited
    async def test_accounts_that_an_earlier_version_registers_get_requests(self) -> None:
        accounts, requests = await self.open()
        now = self.clock.seconds()
        withdrawn, asked = await self.register(accounts, requests, "ann")
        await requests.record(asked, "withdrawn", withdrawn.id, "", now)
        run_script(
            requests._tables,
            f"""
            INSERT INTO account (id, email, password, created_at, approved_at, disabled_at) VALUES
                ('bob', 'bob@example.org', 'hash', {now}, NULL, NULL), ('cy', 'c', 'hash', {now}, {now}, NULL),
                ('dan', 'd', 'hash', {now}, NULL, {now}), ('eve', 'e', 'hash', {now - DAY}, NULL, NULL)
            """,
        )
        for _ in range(2):
            await requests.add_missing(now - DAY, now)
        (added,) = await requests.list(is_open=True, limit=9)
        assert (added.subject, added.account, added.created_at) == ("bob", "bob", now)
        assert [event.kind for event in await requests.events(added.id)] == ["requested"]
        await requests.record(added.id, "approved", "amy", "", now)
        bob = await accounts.find("bob@example.org")
        assert bob is not None
        assert bob.approved
        # Accounts that are decided on meanwhile get none.
        for account_id in ("bob", "dan", "nosuchid", withdrawn.id):
            await requests._add_missing(account_id, now)
        assert await requests.count() == 0

    @pytest.mark.parametrize("other", ["approve", "disable", "delete", "withdrawn", "approved"])
    @awaited
    async def test_of_two_who_decide_at_once_one_does(self, other: str) -> None:
        (accounts, requests), (their_accounts, theirs) = await self.open(), await self.open()

        async def outcome(call: Coroutine[Any, Any, object]) -> str:
            try:
                await call
            except (BadInput, NotFound):
                return "late"
            return "done"

        for number in range(6):
            account, asked = await self.register(accounts, requests, f"ann{number}")
            second = (
                getattr(their_accounts, other)(account.id)
                if hasattr(their_accounts, other)
                else theirs.record(asked, other, account.id, "", 1.0)  # type: ignore[arg-type]
            )
            details = {"disabled": True}
            both = await at_once(outcome(requests.record(asked, "declined", "amy", "", 1.0, details)), outcome(second))
            left = await accounts.find(account.email)
            if other == "delete":
                assert (both[1], left) == ("done", None)
                continue
            assert left is not None
            request = await requests.find(asked)
            assert not request.is_open
            assert len(await requests.events(asked)) == 2
            if other in ("withdrawn", "approved"):
                assert sorted(both) == ["done", "late"]
            assert (left.disabled_at is not None) is (request.state in ("declined", "closed"))
            assert left.approved is (request.state == "approved" or other == "approve")
