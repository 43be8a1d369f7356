"""Port of the operator pages and commands: accounts and keys, searched and paged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ..roster import ListedAccount, ListedKey, RosterCounts, RosterTotals


class Roster(Protocol):
    """Accounts and keys, the newest first if the method says nothing else. No method blocks the reactor's thread.

    Lists begin after the account or key with the id `after`; they are empty if it does not exist any more. `text` is
    part of what is found, without regard to the case of ASCII letters; an empty text finds all.
    """

    async def accounts(
        self, text: str = "", *, pending: bool = False, after: str = "", limit: int
    ) -> Sequence[ListedAccount]:
        """Return accounts by a part of their address; if `pending`, only those that wait for approval."""

    async def account(self, account_id: str) -> ListedAccount | None:
        """Return the account with this id, or None."""

    async def keys(self, text: str = "", *, owner: str = "", after: str = "", limit: int) -> Sequence[ListedKey]:
        """Return keys that are not revoked, by a part of label, owner's address or id; with `owner`, only theirs."""

    async def key(self, key_id: str) -> ListedKey | None:
        """Return the key with this id that is not revoked, or None."""

    async def all_accounts(self, *, after: int = 0, limit: int) -> Sequence[ListedAccount]:
        """Return the oldest accounts with numbers greater than `after`, the oldest first."""

    async def all_keys(self, *, after: int = 0, limit: int) -> Sequence[ListedKey]:
        """Return the oldest keys with numbers greater than `after`, the oldest first, revoked and expired ones too."""

    async def counts(self, most: int) -> RosterCounts:
        """Return the numbers of accounts and keys, each of at most `most + 1`."""

    async def totals(self, now: float) -> RosterTotals:
        """Return the numbers of accounts and keys. It reads all of them: for commands, not for pages."""
