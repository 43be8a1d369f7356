"""Rows of accounts in a transaction: insert one, lock it, and what deletes it with its rows in other tables."""

from __future__ import annotations

from ..domain.accounts import Account, email_taken, unknown_account
from ..domain.keys import new_id
from ._tables import Rows


def columns(given: str) -> str:
    """Return the columns of an Account, in the order of its fields. `given` is the role that an issuer gives, or NULL.

    An account has the higher of this role and of its own, which operators give.
    """
    return f"""
        account.id, email, account.created_at, CASE WHEN password IS NULL
            THEN EXISTS (SELECT 1 FROM identity WHERE identity.account = account.id) ELSE TRUE END,
        disabled_at, approved_at IS NOT NULL,
        CASE WHEN account.role = 'operator' THEN account.role ELSE coalesce({given}, account.role) END, key_limit
    """


COLUMNS = columns("(SELECT max(identity.role) FROM identity WHERE identity.account = account.id)")
"""The columns of an Account with the highest role that an issuer gives, whether it counts at the moment or not."""

COUNTS = "disabled_at IS NULL AND (account.renew_by IS NULL OR account.renew_by > :now)"
"""Whether an account counts: it is not disabled, and a sign-in with an issuer has renewed it, if one does."""

_ADD = """
    INSERT INTO account (id, email, password, created_at, approved_at, confirmed)
    VALUES (:id, :email, :password, :created_at, :approved_at, :confirmed)
    ON CONFLICT (email) DO NOTHING
"""

_ACCOUNT = f"SELECT {COLUMNS} FROM account"

LOCK_ACCOUNT = f"{_ACCOUNT} WHERE id = :id FOR UPDATE"

BY_EMAIL = f"{_ACCOUNT} WHERE email = :email"

APPROVE = "UPDATE account SET approved_at = coalesce(approved_at, :now) WHERE id = :id"

END_SESSIONS = ("DELETE FROM session WHERE account = :id", "DELETE FROM link WHERE account = :id")

DISABLING = ("UPDATE account SET disabled_at = coalesce(disabled_at, :now) WHERE id = :id", *END_SESSIONS)

SET_ROLE = "UPDATE account SET role = :role WHERE id = :id"

KEEP_SUBJECTS = "UPDATE api_key SET owner = NULL WHERE owner = :id AND is_subject"  # their quotas count on

_END_ACCESS = (
    KEEP_SUBJECTS,
    "DELETE FROM secret WHERE key_id IN (SELECT id FROM api_key WHERE owner = :id)",
    "DELETE FROM new_secret WHERE key_id IN (SELECT id FROM api_key WHERE owner = :id)",
    "DELETE FROM key_use WHERE key_id IN (SELECT id FROM api_key WHERE owner = :id)",
    "UPDATE api_key SET owner = NULL, label = '', revoked_at = coalesce(revoked_at, :now) WHERE owner = :id",
    *END_SESSIONS,
)

KEYS = "SELECT id FROM api_key WHERE owner = :id"

# Locked before the uses of the keys: a record of uses skips locked keys, and locks uses in another order.
_LOCK_KEYS = f"{KEYS} FOR UPDATE"


def add_account(rows: Rows, address: str, hashed: str | None, now: float, approved_at: float | None) -> Account:
    """Insert an account. Raises BadInput if the address is taken."""
    account_id = new_id()
    row = {"id": account_id, "email": address, "password": hashed, "created_at": now, "approved_at": approved_at}
    if not rows.execute(_ADD, confirmed=approved_at is not None, **row):
        raise email_taken(address)
    return lock_account(rows, account_id)


def lock_account(rows: Rows, account_id: str) -> Account:
    """Return an account, locked until the end of the transaction. Raises NotFound."""
    row = rows.one(LOCK_ACCOUNT, id=account_id)
    if row is None:
        raise unknown_account(account_id)
    return Account(*row)


def keys_of(rows: Rows, account_id: str) -> list[str]:
    """Return the ids of the keys of an account, whose row is locked."""
    return [key_id for (key_id,) in rows.all(KEYS, id=account_id)]


def end_access(rows: Rows, account_id: str, now: float) -> list[str]:
    """End the sessions, links and keys of an account, whose row is locked; return the ids of the keys.

    The keys stay for a time as revoked rows without owner and secrets, which end open streams.
    """
    rows.lock(_LOCK_KEYS, id=account_id)
    ended = keys_of(rows, account_id)
    for statement in _END_ACCESS:
        rows.execute(statement, id=account_id, now=now)
    return ended
