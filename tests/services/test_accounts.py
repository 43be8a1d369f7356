"""AccountService: concurrent password changes and Unicode normalization."""

from __future__ import annotations

import pytest
from attrs import define, field

from directory_server.domain.errors import NotFound, SignInRefused
from directory_server.runtime.run_sync import run_sync
from directory_server.services.accounts import AccountService
from directory_server.sqlite import Database, SqliteTables
from directory_server.tables import StoredAccounts, StoredSessions


@define
class PlainPasswords:
    """Passwords that are their own hashes.

    Each call sets the password of the account to one of `concurrent_passwords`, as a concurrent request would.
    """

    concurrent_passwords: list[str] = field(factory=list)
    accounts: StoredAccounts | None = None

    async def hash(self, password: str, *, client: str = "") -> str:
        return await self._compute(password)

    async def verify(self, hashed: str | None, password: str, *, client: str = "") -> bool:
        return await self._compute(password) == hashed

    async def _compute(self, password: str) -> str:
        if self.accounts and self.concurrent_passwords:
            ann = await self.accounts.find("ann@example.org")
            assert ann
            await self.accounts.set_password(ann.id, self.concurrent_passwords.pop())
        return password


@pytest.fixture
def accounts(directory_database: Database) -> StoredAccounts:
    return StoredAccounts(SqliteTables(directory_database), lambda: 1_000_000.0)


def account_service(accounts: StoredAccounts, passwords: PlainPasswords) -> AccountService:
    sessions = StoredSessions(accounts._tables, lambda: 1_000_000.0, 3600, 3600)
    return AccountService(accounts, sessions, passwords)


def test_a_password_changed_during_sign_in_is_rejected(accounts: StoredAccounts) -> None:
    run_sync(accounts.add("ann@example.org", "an old password"))
    passwords = PlainPasswords(["a new password"], accounts)
    with pytest.raises(SignInRefused):
        run_sync(account_service(accounts, passwords).sign_in("ann@example.org", "an old password"))
    session = run_sync(account_service(accounts, passwords).sign_in("ann@example.org", "a new password"))
    found = run_sync(account_service(accounts, passwords).signed_in(session))
    assert found
    assert found.email == "ann@example.org"


def test_a_link_used_concurrently_sets_no_password(accounts: StoredAccounts) -> None:
    ann = run_sync(accounts.add("ann@example.org"))
    token = run_sync(accounts.link(ann.id, lifetime=60))
    passwords = PlainPasswords(["the first password"], accounts)
    with pytest.raises(NotFound):
        run_sync(account_service(accounts, passwords).accept(token, "the second password"))
    assert run_sync(accounts.password(ann.id)) == "the first password"


def test_passwords_are_unicode_normalized(accounts: StoredAccounts) -> None:
    service = account_service(accounts, PlainPasswords())
    run_sync(service.register("ann@example.org", "Cafe\u0301 am Ufer"))
    run_sync(service.sign_in("ann@example.org", "Caf\u00e9 am Ufer"))
