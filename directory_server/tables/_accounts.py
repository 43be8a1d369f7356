"""The Accounts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attrs import frozen

from ..domain.accounts import (
    Account,
    Role,
    check_role,
    checked_email,
    disabled_account,
    normalized_email,
    unknown_link,
)
from ..domain.errors import TooManyAccounts
from ..domain.keys import COUNTED_AFTER_END, check_limit, digest, new_token
from ..domain.requests import EventKind
from ._account_rows import (
    APPROVE,
    BY_EMAIL,
    COLUMNS,
    COUNTS,
    DISABLING,
    END_SESSIONS,
    SET_ROLE,
    add_account,
    end_access,
    keys_of,
    lock_account,
)
from ._registrations import add_registration, end_registration, renew_registration
from ._requests import lock_requests
from ._tables import Rows, Tables, transaction

_REGISTERING = "SELECT pg_advisory_xact_lock(0, 3)"
"""The lock of registrations: the number of pending accounts is counted before one is added."""

# Without disabled ones, which are never deleted: those that operators decline would end registration.
_PENDING = "SELECT count(*) FROM account WHERE approved_at IS NULL AND disabled_at IS NULL"

_END_GIVEN_ROLES = "UPDATE identity SET role = NULL WHERE account = :id"

_LINK_ISSUER = "UPDATE account SET links = :issuer WHERE id = :id"

_RENEW = "UPDATE account SET renew_by = NULL WHERE id = :id"

_SET_LIMIT = (
    "UPDATE account SET key_limit = :key_limit WHERE id = :id",
    "UPDATE api_key SET quota = :key_limit WHERE owner = :id",
)

_ACCOUNT = f"SELECT {COLUMNS} FROM account"

_ALL = f"{_ACCOUNT} ORDER BY created_at, ordinal"

_IS_UNUSED = "approved_at IS NULL AND disabled_at IS NULL AND greatest(created_at, coalesce(seen_at, 0)) <= :before"

_UNUSED = f"{_ACCOUNT} WHERE id > :after AND {_IS_UNUSED} ORDER BY id LIMIT :limit"

_STILL_UNUSED = f"SELECT 1 FROM account WHERE id = :id AND {_IS_UNUSED} FOR UPDATE"

_DELETE = "DELETE FROM account WHERE id = :id"

_DELETE_ENDED = """
    DELETE FROM api_key WHERE id IN (
        SELECT id FROM api_key WHERE revoked_at <= :before
        AND NOT EXISTS (SELECT 1 FROM secret WHERE key_id = api_key.id) FOR UPDATE SKIP LOCKED
    )
"""

_PASSWORD = f"SELECT password FROM account WHERE id = :id AND {COUNTS}"

_SET_PASSWORD = "UPDATE account SET password = :password WHERE id = :id"

_ENABLE = "UPDATE account SET disabled_at = NULL WHERE id = :id"

_LINK = """
    INSERT INTO link (account, digest, expires_at) VALUES (:id, :digest, :expires_at)
    ON CONFLICT (account) DO UPDATE SET digest = excluded.digest, expires_at = excluded.expires_at
"""

_LINKED = f"""
    SELECT {COLUMNS} FROM link JOIN account ON account.id = link.account
    WHERE digest = :digest AND expires_at > :now AND disabled_at IS NULL
"""


@frozen
class StoredAccounts:
    """User accounts, identified by e-mail addresses, whose case does not count.

    `now` is in seconds since the epoch. Each transaction locks requests, if it changes one, then the row of an account,
    then others, so that no two wait for each other.
    """

    _tables: Tables
    _now: Callable[[], float]

    @transaction
    def add(self, rows: Rows, email: str, hashed: str | None = None) -> Account:
        """Create an approved account, with a password hash or none. Raises BadInput if invalid or taken."""
        now = self._now()
        return add_account(rows, checked_email(email), hashed, now, approved_at=now)

    @transaction
    def register(self, rows: Rows, email: str, hashed: str, *, most: int, text: str = "") -> Account:
        """Create an account that is not approved, and a request for its approval with a text for operators.

        Raises BadInput as `add` does and for the text, and TooManyAccounts where `most` accounts are not approved.
        """
        address = checked_email(email)
        rows.lock(_REGISTERING)
        if rows.one(_PENDING)[0] >= most:
            raise TooManyAccounts
        account = add_account(rows, address, hashed, now := self._now(), approved_at=None)
        add_registration(rows, account.id, text, now)
        return account

    async def approve(self, account_id: str) -> None:
        """Approve an account, and its request for that: each of its keys then has its own quota. Raises NotFound.

        The time of an earlier approval stays.
        """
        await self._change(account_id, APPROVE, ends="approved", now=self._now())

    @transaction
    def set_role(self, rows: Rows, account_id: str, role: Role) -> None:
        """Set the role of an account. Raises NotFound, and BadInput for an operator or auditor who is not approved.

        Roles that issuers have given end until the next sign-in.
        """
        check_role(lock_account(rows, account_id), role)
        rows.execute(SET_ROLE, id=account_id, role=role)
        rows.execute(_END_GIVEN_ROLES, id=account_id)

    async def link_issuer(self, account_id: str, issuer: str) -> None:
        """Let one more person, of this issuer and with the address of the account, sign in to it. Raises NotFound."""
        await self._change(account_id, _LINK_ISSUER, issuer=issuer)

    async def set_limit(self, account_id: str, limit: int) -> None:
        """Set the limit of all keys of an account, and of its new ones. Raises NotFound, BadInput."""
        check_limit(limit)
        await self._change(account_id, *_SET_LIMIT, key_limit=limit)

    async def unused(self, before: float, *, after: str, limit: int) -> Sequence[Account]:
        """Return at most `limit` removable accounts, ordered by id, with ids greater than `after`.

        They are neither approved nor disabled, and were created, and last used in a browser, at `before` at the latest.
        """
        rows = await self._tables.select(_UNUSED, before=before, after=after, limit=limit)
        return [Account(*row) for row in rows]

    @transaction
    def remove(self, rows: Rows, account_id: str, *, before: float) -> bool:
        """Delete an account and its keys if it is still one of `unused(before)`; return whether it was."""
        lock_requests(rows)
        if rows.one(_STILL_UNUSED, id=account_id, before=before) is None:
            return False
        _delete(rows, account_id, self._now())
        return True

    @transaction
    def delete(self, rows: Rows, account_id: str) -> None:
        """Delete an account, its sessions, links and keys. The keys end as revoked keys do. Raises NotFound."""
        # The deletion changes the requests of the account.
        lock_requests(rows)
        lock_account(rows, account_id)
        _delete(rows, account_id, self._now())

    async def find(self, email: str) -> Account | None:
        """Return the account with this address, disabled or not; None if there is none."""
        row = await self._tables.one(BY_EMAIL, email=normalized_email(email))
        return Account(*row) if row else None

    async def list(self) -> Sequence[Account]:
        """Return all accounts, oldest first."""
        return [Account(*row) for row in await self._tables.select(_ALL)]

    async def password(self, account_id: str) -> str | None:
        """Return the password hash of an account; None if it has none, is disabled or unknown, or has to be renewed."""
        row = await self._tables.one(_PASSWORD, id=account_id, now=self._now())
        return row[0] if row else None

    @transaction
    def set_password(self, rows: Rows, account_id: str, hashed: str | None) -> None:
        """Set the password hash, None to delete it; end all sessions and links of the account. Raises NotFound."""
        lock_account(rows, account_id)
        _set_password(rows, account_id, hashed)

    async def disable(self, account_id: str) -> None:
        """Disable an account and its keys; end its sessions, its links and a request for approval. Raises NotFound."""
        await self._change(account_id, *DISABLING, ends="closed", now=self._now())

    @transaction
    def enable(self, rows: Rows, account_id: str) -> None:
        """Enable an account and its keys again; ended sessions and links stay ended. Raises NotFound.

        One that is not approved waits for that again.
        """
        lock_requests(rows)
        account = lock_account(rows, account_id)
        rows.execute(_ENABLE, id=account_id)
        if account.disabled_at is not None and not account.approved:
            renew_registration(rows, account_id, self._now())

    @transaction
    def link(self, rows: Rows, account_id: str, *, lifetime: float) -> str:
        """Return the secret of a single-use link to set a password, valid for `lifetime` seconds.

        It replaces an earlier one. Raises NotFound, and BadInput for a disabled account.
        """
        if lock_account(rows, account_id).disabled_at is not None:
            raise disabled_account()
        token = new_token()
        rows.execute(_LINK, id=account_id, digest=digest(token), expires_at=self._now() + lifetime)
        return token

    async def linked(self, token: str) -> Account | None:
        """Return the account of a link, without using the link; None if unknown, used or expired."""
        row = await self._tables.one(_LINKED, digest=digest(token), now=self._now())
        return Account(*row) if row else None

    @transaction
    def redeem(self, rows: Rows, token: str, hashed: str | None) -> Account:
        """Use a link: set the password of its account, or delete it if `hashed` is None.

        The account then counts until the next sign-in with an issuer that has to be renewed: an operator made the link.
        Raises NotFound if it is unknown, used or expired. Of two concurrent calls one succeeds.
        """
        link = {"digest": digest(token), "now": self._now()}
        linked = rows.one(_LINKED, **link)
        # Another caller may have used the link before this one got the lock of the account.
        if linked is None or not (lock_account(rows, linked[0]) and rows.one(_LINKED, **link)):
            raise unknown_link()
        _set_password(rows, linked[0], hashed)
        rows.execute(_RENEW, id=linked[0])
        return lock_account(rows, linked[0])

    @transaction
    def _change(
        self, rows: Rows, /, account_id: str, *statements: str, ends: EventKind | None = None, **values: object
    ) -> None:
        """Run statements on a locked account, and end the cached look-ups of its keys. Raises NotFound.

        An open request for approval `ends` with an event.
        """
        if ends is not None:
            # In the order of those who add a request, which refers to an account.
            lock_requests(rows)
        account = lock_account(rows, account_id)
        for statement in statements:
            rows.execute(statement, id=account_id, **values)
        if ends is not None and not account.approved:
            end_registration(rows, account_id, ends, self._now())
        rows.end_keys(keys_of(rows, account_id))


def _delete(rows: Rows, account_id: str, now: float) -> None:
    ended = end_access(rows, account_id, now)
    rows.execute(_DELETE, id=account_id)
    rows.execute(_DELETE_ENDED, before=now - COUNTED_AFTER_END)
    rows.end_keys(ended)


def _set_password(rows: Rows, account_id: str, hashed: str | None) -> None:
    rows.execute(_SET_PASSWORD, id=account_id, password=hashed)
    for statement in END_SESSIONS:
        rows.execute(statement, id=account_id)
