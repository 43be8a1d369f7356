"""Membership: what happens where two things happen at once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from attrs import define, field

from directory_server.domain.errors import NotFound, SignInRefused
from directory_server.run_sync import run_sync
from directory_server.services.accounts import AccountService
from directory_server.sqlite import Database, SqliteAccounts, SqliteSessions


@define
class Passwords:
    """Passwords in the clear; something may happen while one is verified or hashed."""

    meanwhile: list[str] = field(factory=list)
    accounts: SqliteAccounts | None = None

    async def hash(self, password: str, *, client: str = "") -> str:
        return await self._done(password)

    async def verify(self, hashed: str | None, password: str, *, client: str = "") -> bool:
        return await self._done(password) == hashed

    async def _done(self, password: str) -> str:
        if self.accounts and self.meanwhile:
            ann = await self.accounts.find("ann@example.org")
            assert ann
            await self.accounts.set_password(ann.id, self.meanwhile.pop())
        return password


@pytest.fixture
def accounts(tmp_path: Path) -> Iterator[SqliteAccounts]:
    database = Database(tmp_path, "directory")
    yield SqliteAccounts(database, lambda: 1_000_000.0)
    database.close()


def membership(accounts: SqliteAccounts, passwords: Passwords) -> AccountService:
    sessions = SqliteSessions(accounts._database, lambda: 1_000_000.0, 3600, 3600)
    return AccountService(accounts, sessions, passwords)


def test_a_password_that_is_changed_meanwhile_does_not_open_any_more(accounts: SqliteAccounts) -> None:
    run_sync(accounts.add("ann@example.org", "an old password"))
    passwords = Passwords(["a new password"], accounts)
    with pytest.raises(SignInRefused):
        run_sync(membership(accounts, passwords).sign_in("ann@example.org", "an old password"))
    session = run_sync(membership(accounts, passwords).sign_in("ann@example.org", "a new password"))
    found = run_sync(membership(accounts, passwords).who(session))
    assert found
    assert found.email == "ann@example.org"


def test_a_link_that_is_used_meanwhile_sets_no_password(accounts: SqliteAccounts) -> None:
    ann = run_sync(accounts.add("ann@example.org"))
    token = run_sync(accounts.link(ann.id, lifetime=60))
    passwords = Passwords(["the first password"], accounts)
    with pytest.raises(NotFound):
        run_sync(membership(accounts, passwords).accept(token, "the second password"))
    assert run_sync(accounts.password(ann.id)) == "the first password"


def test_a_password_is_the_same_however_its_letters_are_put_together(accounts: SqliteAccounts) -> None:
    members = membership(accounts, Passwords())
    run_sync(members.register("ann@example.org", "Cafe\u0301 am Ufer"))
    run_sync(members.sign_in("ann@example.org", "Caf\u00e9 am Ufer"))
