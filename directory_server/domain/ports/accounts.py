"""Ports of accounts: people, sessions, passwords."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ..accounts import Account
from ..keys import NewSecret


class Accounts(Protocol):
    """People who may have keys, by their e-mail addresses: the case of letters does not tell two apart."""

    async def add(self, email: str, hashed: str | None = None) -> Account:
        """Make an account, with a password's hash or none. Raises BadInput for an address that is none, or taken."""

    async def register(self, email: str, hashed: str, *, most: int) -> Account:
        """Create an account that is not approved.

        Raises BadInput as `add` does, and TooManyAccounts where `most` accounts are not approved.
        """

    async def approve(self, account_id: str) -> None:
        """Approve an account: from now on each of its keys has a quota of its own. Raises NotFound."""

    async def unused(self, before: float, *, after: str, limit: int) -> Sequence[Account]:
        """Return at most `limit` accounts, by id from behind `after`, that may be removed.

        They are neither approved nor disabled, and were created, and last used in a browser, at `before` at the latest.
        """

    async def remove(self, account_id: str, *, before: float) -> bool:
        """Delete an account and its keys if it is still one of `unused(before)`; return whether it was."""

    async def find(self, email: str) -> Account | None:
        """Return the account with this address, disabled ones too."""

    async def list(self) -> Sequence[Account]:
        """Return every account, oldest first."""

    async def password(self, account_id: str) -> str | None:
        """Return the hash of an account's password; None for one that is disabled, unknown or has none."""

    async def set_password(self, account_id: str, hashed: str) -> None:
        """Set a password's hash, and end every session and link of the account. Raises NotFound."""

    async def forget_password(self, account_id: str) -> None:
        """Delete a password's hash, and end every session and link of the account. Raises NotFound."""

    async def disable(self, account_id: str) -> None:
        """Let nobody in, end every session and link of the account, and let its keys not open. Raises NotFound."""

    async def enable(self, account_id: str) -> None:
        """Let an account's owner, and its keys, in again. Raises NotFound."""

    async def link(self, account_id: str, *, lifetime: float) -> str:
        """Return the secret of a link to set a password with, once, within `lifetime` seconds.

        It replaces an earlier one. Raises NotFound, and BadInput for a disabled account.
        """

    async def linked(self, token: str) -> Account | None:
        """Return the account that a link is for, without using it; None if unknown, used or expired."""

    async def redeem(self, token: str, hashed: str) -> Account:
        """Use a link: `set_password` for the account that it is for. Raises NotFound; of two at once, for one."""


class Sessions(Protocol):
    """Who is signed in; the secret of a session is not kept. Its use is noted for the account, too."""

    async def open(self, account_id: str) -> str:
        """Begin a session and return its secret."""

    async def find(self, token: str) -> Account | None:
        """Return whose session it is, and note that it is in use; None where there is none, or it has ended."""

    async def close(self, token: str) -> None:
        """End a session, if there is one."""


class NewSecrets(Protocol):
    """New secrets of keys, each kept for a few minutes until the page that shows it is loaded, in any process.

    What is kept can be read only with the secret of the session that put it there.
    """

    async def put(self, session: str, key_id: str, new: NewSecret) -> None:
        """Keep the new secret of a key for a session; it replaces an earlier one of both."""

    async def take(self, session: str, key_id: str) -> NewSecret | None:
        """Return the new secret of a key and forget it; None if there is none for the session."""


class Passwords(Protocol):
    """Hashes of passwords: slow to make, so that guessing is.

    `client` says for whom: those who wait take turns by client, and one client may have only a few waiting.
    """

    async def hash(self, password: str, *, client: str = "") -> str:
        """Return what is kept of a password. Raises Unavailable where too many wait for that."""

    async def verify(self, hashed: str | None, password: str, *, client: str = "") -> bool:
        """Tell whether `hashed` was made of `password`; None, for nobody's, takes as long. Raises Unavailable."""
