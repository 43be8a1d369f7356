"""Persons of issuers, who sign in to accounts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attrs import frozen

from ..domain.accounts import (
    Account,
    Identity,
    Role,
    checked_email,
)
from ..domain.keys import subject_key_id
from ..serialization import decode_stored, encode
from ._account_rows import BY_EMAIL, COLUMNS, REMOVE, SET_ROLE, add_account, keys_of, lock_account
from ._tables import Rows, Tables, transaction

_FIND_PERSON = f"SELECT {COLUMNS} FROM identity JOIN account ON account.id = identity.account WHERE digest = :digest"

_LINK_PERSON = """
    INSERT INTO identity (digest, account, issuer, groups, created_at, signed_in_at)
    VALUES (:digest, :id, :issuer, :groups, :now, :now)
    ON CONFLICT (digest) DO UPDATE SET groups = excluded.groups, signed_in_at = excluded.signed_in_at
"""

_TAKE_SUBJECT = """
    UPDATE api_key SET owner = :id, quota = coalesce((SELECT key_limit FROM account WHERE account.id = :id), quota)
    WHERE id = :key AND is_subject AND owner IS NULL
"""

_PERSONS = "SELECT issuer, digest, groups FROM identity WHERE account = :id ORDER BY signed_in_at DESC, digest"


@frozen
class StoredIdentities:
    """Persons of issuers, who sign in to accounts.

    `now` is in seconds since the epoch. The account is locked before other rows.
    """

    _tables: Tables
    _now: Callable[[], float]

    @transaction
    def sign_in(
        self, rows: Rows, identity: Identity, email: str | None, *, creates: bool, role: Role | None = None
    ) -> Account | None:
        """Return the account of a person, and store her groups, and her `role` if it is not None.

        A person without an account gets that with the address `email`, which the issuer has verified, or a new one if
        `creates`. A pending account with this address is deleted first: whoever registered it has not proved to own the
        address. None if there is no account. Raises BadInput for an invalid address.
        """
        address, now = None if email is None else checked_email(email), self._now()
        account, ended = _account(rows, identity, address, now, creates=creates)
        if account is None:
            return None
        groups = encode(list(identity.groups)).decode()
        rows.execute(
            _LINK_PERSON, digest=identity.digest, id=account.id, issuer=identity.issuer, groups=groups, now=now
        )
        if role is not None and role != account.role:
            rows.execute(SET_ROLE, id=account.id, role=role)
        key = subject_key_id(identity.digest)
        if rows.execute(_TAKE_SUBJECT, id=account.id, key=key):
            ended = [*ended, key]
        account = lock_account(rows, account.id)
        if ended:
            rows.end_keys(ended)
        return account

    async def of(self, account_id: str) -> Sequence[Identity]:
        """Return the persons who sign in to an account, the last one first."""
        rows = await self._tables.all(_PERSONS, id=account_id)
        return [Identity(issuer, bytes(key), tuple(decode_stored(groups.encode()))) for issuer, key, groups in rows]


def _account(
    rows: Rows, identity: Identity, address: str | None, now: float, *, creates: bool
) -> tuple[Account | None, Sequence[str]]:
    """Return the locked account of a person, None if there is none, and the keys of an account that was deleted."""
    row = rows.one(_FIND_PERSON, digest=identity.digest)
    if row is None and address is not None:
        row = rows.one(BY_EMAIL, email=address)
    account = None if row is None else lock_account(rows, row[0])
    if account is not None and account.approved:
        return account, ()
    if address is None or not creates:
        return None, ()
    ended: Sequence[str] = ()
    if account is not None:
        ended = keys_of(rows, account.id)
        for statement in REMOVE:
            rows.execute(statement, id=account.id)
    return add_account(rows, address, None, now, approved_at=now), ended
