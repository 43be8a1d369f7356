"""Ports of accounts: accounts, sessions, new secrets, passwords."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ..accounts import Account, BrowserSession, Identity, Role
from ..keys import UNKNOWN, Client, NewSecret


class Accounts(Protocol):
    """User accounts, identified by e-mail addresses. Addresses are case-insensitive."""

    async def add(self, email: str, hashed: str | None = None) -> Account:
        """Create an approved account, with a password hash or none. Raises BadInput if invalid or taken."""

    async def register(self, email: str, hashed: str, *, most: int) -> Account:
        """Create an account that is not approved.

        Raises BadInput as `add` does, and TooManyAccounts where `most` accounts are not approved.
        """

    async def approve(self, account_id: str) -> None:
        """Approve an account: each of its keys then has its own quota. Raises NotFound."""

    async def set_role(self, account_id: str, role: Role) -> None:
        """Set the role of an account. Raises NotFound, and BadInput for an operator or auditor who is not approved."""

    async def set_limit(self, account_id: str, limit: int) -> None:
        """Set the limit of all keys of an account, and of its new ones. Raises NotFound, BadInput."""

    async def unused(self, before: float, *, after: str, limit: int) -> Sequence[Account]:
        """Return at most `limit` removable accounts, ordered by id, with ids greater than `after`.

        They are neither approved nor disabled, and were created, and last used in a browser, at `before` at the latest.
        """

    async def remove(self, account_id: str, *, before: float) -> bool:
        """Delete an account and its keys if it is still one of `unused(before)`; return whether it was."""

    async def delete(self, account_id: str) -> None:
        """Delete an account, its sessions, links and keys. The keys end as revoked keys do. Raises NotFound."""

    async def find(self, email: str) -> Account | None:
        """Return the account with this address, disabled or not; None if there is none."""

    async def list(self) -> Sequence[Account]:
        """Return all accounts, oldest first."""

    async def password(self, account_id: str) -> str | None:
        """Return the password hash of an account; None if it is disabled, unknown or has no password."""

    async def set_password(self, account_id: str, hashed: str) -> None:
        """Set the password hash; end all sessions and links of the account. Raises NotFound."""

    async def forget_password(self, account_id: str) -> None:
        """Delete the password hash; end all sessions and links of the account. Raises NotFound."""

    async def disable(self, account_id: str) -> None:
        """Disable an account and its keys; end all its sessions and links. Raises NotFound."""

    async def enable(self, account_id: str) -> None:
        """Enable an account and its keys again. Raises NotFound."""

    async def link(self, account_id: str, *, lifetime: float) -> str:
        """Return the secret of a single-use link to set a password, valid for `lifetime` seconds.

        It replaces an earlier one. Raises NotFound, and BadInput for a disabled account.
        """

    async def linked(self, token: str) -> Account | None:
        """Return the account of a link, without using the link; None if unknown, used or expired."""

    async def redeem(self, token: str, hashed: str | None) -> Account:
        """Use a link: set the password of its account, or delete it if `hashed` is None.

        Raises NotFound. Of two concurrent calls one succeeds.
        """


class Identities(Protocol):
    """Persons of issuers, who sign in to accounts."""

    async def sign_in(
        self, identity: Identity, email: str | None, *, creates: bool, role: Role | None = None
    ) -> Account | None:
        """Return the account of a person, and store her groups, and her `role` if it is not None.

        A person without an account gets that with the address `email`, which the issuer has verified, or a new one if
        `creates`. A pending account with this address is deleted first: whoever registered it has not proved to own the
        address. None if there is no account. Raises BadInput for an invalid address.
        """

    async def of(self, account_id: str) -> Sequence[Identity]:
        """Return the persons who sign in to an account, the last one first."""


class Sessions(Protocol):
    """Sign-in sessions. Only digests of their secrets are stored. Use of a session counts as use of its account.

    The time and the client of the last use are up to USE_INTERVAL seconds old.
    """

    async def open(self, account_id: str, client: Client = UNKNOWN) -> str:
        """Start a session and return its secret. Above MAX_SESSIONS, end the least recently used one."""

    async def find(self, token: str, client: Client = UNKNOWN) -> Account | None:
        """Return the account of a session and record its use by `client`; None if unknown or ended."""

    async def list(self, account_id: str) -> Sequence[BrowserSession]:
        """Return the sessions of an account that have not ended, the last used first."""

    async def end(self, account_id: str, session_id: str) -> None:
        """End the session of an account with this id. Raises NotFound."""

    async def end_others(self, token: str) -> None:
        """End all sessions of the account of the session `token`, except this one."""

    async def close(self, token: str) -> None:
        """End a session, if it exists."""


class NewSecrets(Protocol):
    """New secrets of keys, stored for a few minutes until the page that displays them is loaded, by any process.

    A stored secret can be read only with the secret of the session that stored it.
    """

    async def put(self, session: str, key_id: str, new: NewSecret) -> None:
        """Store the new secret of a key for a session; it replaces an earlier one of the same key and session."""

    async def take(self, session: str, key_id: str) -> NewSecret | None:
        """Return and delete the new secret of a key; None if the session has none."""


class Passwords(Protocol):
    """Password hashing, deliberately slow.

    `client` identifies the client for fair queueing: clients take turns, and each may have only a few waiting calls.
    """

    async def hash(self, password: str, *, client: str = "") -> str:
        """Return the hash of a password. Raises Unavailable if too many calls wait."""

    async def verify(self, hashed: str | None, password: str, *, client: str = "") -> bool:
        """Return whether `hashed` is the hash of `password`; None takes as long and is False. Raises Unavailable."""
