"""Rows of accounts in a transaction: insert one, lock it, and what deletes it with its rows in other tables."""

from __future__ import annotations

from ..domain.accounts import Account, email_taken, unknown_account
from ..domain.keys import new_id
from ._tables import Rows

COLUMNS = """
    account.id, email, account.created_at,
    CASE WHEN password IS NULL THEN EXISTS (SELECT 1 FROM identity WHERE identity.account = account.id) ELSE TRUE END,
    disabled_at, approved_at IS NOT NULL, role, key_limit
"""
"""The columns of an Account, in the order of its fields."""

_ADD = """
    INSERT INTO account (id, email, password, created_at, approved_at)
    VALUES (:id, :email, :password, :created_at, :approved_at)
    ON CONFLICT (email) DO NOTHING
"""

_ACCOUNT = f"SELECT {COLUMNS} FROM account"

_LOCK = f"{_ACCOUNT} WHERE id = :id FOR UPDATE"

BY_EMAIL = f"{_ACCOUNT} WHERE email = :email"

SET_ROLE = "UPDATE account SET role = :role WHERE id = :id"

KEEP_SUBJECTS = "UPDATE api_key SET owner = NULL WHERE owner = :id AND is_subject"  # their quotas count on

REMOVE = (
    KEEP_SUBJECTS,
    "DELETE FROM secret WHERE key_id IN (SELECT id FROM api_key WHERE owner = :id)",
    "DELETE FROM api_key WHERE owner = :id",
    "DELETE FROM session WHERE account = :id",
    "DELETE FROM link WHERE account = :id",
    "DELETE FROM account WHERE id = :id",
)
"""Deletes an account and its rows in other tables, in the order of the foreign keys."""

KEYS = "SELECT id FROM api_key WHERE owner = :id"


def add_account(rows: Rows, address: str, hashed: str | None, now: float, approved_at: float | None) -> Account:
    """Insert an account. Raises BadInput if the address is taken."""
    account_id = new_id()
    row = {"id": account_id, "email": address, "password": hashed, "created_at": now, "approved_at": approved_at}
    if not rows.execute(_ADD, **row):
        raise email_taken(address)
    return lock_account(rows, account_id)


def lock_account(rows: Rows, account_id: str) -> Account:
    """Return an account, locked until the end of the transaction. Raises NotFound."""
    row = rows.one(_LOCK, id=account_id)
    if row is None:
        raise unknown_account(account_id)
    return Account(*row)


def keys_of(rows: Rows, account_id: str) -> list[str]:
    """Return the ids of the keys of an account, whose row is locked."""
    return [key_id for (key_id,) in rows.all(KEYS, id=account_id)]
