"""Persons of issuers, who sign in to accounts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from attrs import frozen

from ..domain.accounts import Account, Identity, checked_email, linked_elsewhere
from ..domain.keys import subject_key_id
from ..serialization import decode_stored, encode
from ._account_rows import BY_EMAIL, SET_ROLE, add_account, end_access, keys_of, lock_account
from ._registrations import end_registration
from ._requests import lock_requests
from ._tables import Rows, Tables, transaction

_FIND_PERSON = "SELECT account FROM identity WHERE digest = :digest"

_LINK_PERSON = """
    INSERT INTO identity (digest, account, issuer, groups, created_at, signed_in_at, role, renew_by)
    VALUES (:digest, :id, :issuer, :groups, :now, :now, :role, :renew_by)
    ON CONFLICT (digest) DO UPDATE SET groups = excluded.groups, signed_in_at = excluded.signed_in_at,
        role = excluded.role, renew_by = excluded.renew_by
"""

_LINKS = """
    SELECT confirmed, links = :issuer OR NOT EXISTS (SELECT 1 FROM identity WHERE account = :id)
    FROM account WHERE id = :id
"""

_CONFIRM = """
    UPDATE account SET links = NULL, confirmed = TRUE, approved_at = coalesce(approved_at, :now),
        password = CASE WHEN confirmed THEN password END WHERE id = :id
"""

# A person who does not have to renew keeps the account.
_RENEW = """
    UPDATE account SET renew_by = (
        SELECT CASE WHEN count(*) = count(identity.renew_by) THEN max(identity.renew_by) END
        FROM identity WHERE identity.account = account.id
    ) WHERE id = ANY(:ids)
"""

_DIFFER = """
    SELECT id FROM account WHERE id IN (
        SELECT account FROM identity WHERE issuer = :issuer
        AND coalesce(renew_by, -1) <> coalesce(signed_in_at + CAST(:renew AS double precision), -1)
    ) ORDER BY id FOR UPDATE
"""

_APPLY_RENEWAL = """
    UPDATE identity SET renew_by = signed_in_at + CAST(:renew AS double precision)
    WHERE issuer = :issuer AND account = ANY(:ids)
"""

_KEYS = "SELECT id FROM api_key WHERE owner = ANY(:ids)"

_TAKE_SUBJECT = """
    UPDATE api_key SET owner = :id, quota = coalesce((SELECT key_limit FROM account WHERE account.id = :id), quota)
    WHERE id = :key AND is_subject AND owner IS NULL
"""

_PERSONS = "SELECT issuer, digest, groups FROM identity WHERE account = :id ORDER BY signed_in_at DESC, digest"


@frozen
class StoredIdentities:
    """Persons of issuers, who sign in to accounts.

    `now` is in seconds since the epoch. Requests are locked before the account, and that before other rows.
    """

    _tables: Tables
    _now: Callable[[], float]

    @transaction
    def sign_in(self, rows: Rows, identity: Identity, email: str | None, *, creates: bool) -> Account | None:
        """Return the account of a person, and store her groups and the role that her issuer gives.

        A role that her claims decide ends the one that operators gave. A person without an account gets that with the
        address `email`, which the issuer has verified, or a new one if `creates`. If somebody registered that account,
        its password, sessions, links and keys end. None if there is no account. Raises BadInput for an invalid address,
        and for an account to which another person signs in.
        """
        address, now = None if email is None else checked_email(email), self._now()
        account, ended = _account(rows, identity, address, now, creates=creates)
        if account is None:
            return None
        rows.execute(
            _LINK_PERSON,
            digest=identity.digest,
            id=account.id,
            issuer=identity.issuer,
            groups=encode(list(identity.groups)).decode(),
            now=now,
            role=None if identity.role == "member" else identity.role,
            renew_by=None if identity.renew is None else now + identity.renew,
        )
        rows.execute(_RENEW, ids=[account.id])
        if identity.role is not None:
            rows.execute(SET_ROLE, id=account.id, role="member")
        rows.execute(_TAKE_SUBJECT, id=account.id, key=subject_key_id(identity.digest))
        account = lock_account(rows, account.id)
        if ended := [*ended, *keys_of(rows, account.id)]:
            rows.end_keys(ended)
        return account

    @transaction
    def apply_renewals(self, rows: Rows, renewals: Mapping[str, float | None]) -> None:
        """Let the last sign-ins with issuers, by their URLs, count for these seconds, None for always."""
        ended: list[str] = []
        for issuer, renew in renewals.items():
            if ids := [account_id for (account_id,) in rows.all(_DIFFER, issuer=issuer, renew=renew)]:
                rows.execute(_APPLY_RENEWAL, issuer=issuer, renew=renew, ids=ids)
                rows.execute(_RENEW, ids=ids)
                ended += [key_id for (key_id,) in rows.all(_KEYS, ids=ids)]
        if ended:
            rows.end_keys(ended)

    async def of(self, account_id: str) -> Sequence[Identity]:
        """Return the persons who sign in to an account, the last one first."""
        rows = await self._tables.all(_PERSONS, id=account_id)
        return [Identity(issuer, bytes(key), tuple(decode_stored(groups.encode()))) for issuer, key, groups in rows]


def _account(
    rows: Rows, identity: Identity, address: str | None, now: float, *, creates: bool
) -> tuple[Account | None, Sequence[str]]:
    """Return the locked account of a person, None if there is none, and the keys that end with the first link."""
    if (row := rows.one(_FIND_PERSON, digest=identity.digest)) is not None:
        return lock_account(rows, row[0]), ()
    if address is None:
        return None, ()
    if (row := rows.one(BY_EMAIL, email=address)) is None:
        return (add_account(rows, address, None, now, approved_at=now) if creates else None), ()
    if not Account(*row).approved:
        lock_requests(rows)
    account = lock_account(rows, row[0])
    confirmed, may_link = rows.one(_LINKS, id=account.id, issuer=identity.issuer)
    if not may_link:
        raise linked_elsewhere(address)
    if not account.approved and not creates:
        return None, ()
    # The one who registered it has not proved to own the address, even if an operator approved the account.
    ended = end_access(rows, account.id, now) if not confirmed else []
    rows.execute(_CONFIRM, id=account.id, now=now)
    if not account.approved:
        end_registration(rows, account.id, "approved", now)
    return account, ended
