"""The Roster in memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from attrs import frozen

from ..domain.keys import ApiKey
from ..domain.roster import (
    ListedAccount,
    ListedKey,
    NumberedAccount,
    NumberedKey,
    RosterCounts,
    RosterTotals,
    folded,
    searched,
)
from ._access import AccessData, AccountRow
from ._keys import with_shared_quota

T = TypeVar("T")


@frozen
class MemoryRoster:
    """Accounts and keys in the data of the other adapters."""

    _data: AccessData

    async def accounts(
        self, text: str = "", *, pending: bool = False, after: str = "", limit: int
    ) -> Sequence[ListedAccount]:
        rows = _page(self._data.accounts.values(), lambda row: (row.created_at, row.id), after)
        found = [row for row in rows if searched(text) in row.email and (not pending or _is_pending(row))]
        return [self._account(row) for row in found[:limit]]

    async def account(self, account_id: str) -> ListedAccount | None:
        row = self._data.accounts.get(account_id)
        return self._account(row) if row else None

    async def keys(self, text: str = "", *, owner: str = "", after: str = "", limit: int) -> Sequence[ListedKey]:
        rows = _page(self._data.keys.values(), lambda key: (key.created_at, key.id), after)
        listed = [self._key(key) for key in rows if key.revoked_at is None and owner in ("", key.owner)]
        found = searched(text)
        return [each for each in listed if found in folded(each.key.label) + "\n" + each.email + "\n" + each.key.id][
            :limit
        ]

    async def key(self, key_id: str) -> ListedKey | None:
        key = self._data.keys.get(key_id)
        return self._key(key) if key and key.revoked_at is None else None

    async def all_accounts(self, *, after: int = 0, limit: int) -> Sequence[NumberedAccount]:
        listed = [self._account(row) for row in self._data.accounts.values()]
        numbered = [NumberedAccount(number, each.account, each.keys) for number, each in enumerate(listed, 1)]
        return numbered[after : after + limit]

    async def all_keys(self, *, after: int = 0, limit: int) -> Sequence[NumberedKey]:
        listed, uses = [self._key(key) for key in self._data.keys.values()], self._data.key_uses
        numbered = [
            NumberedKey(number, each.key, each.email, uses.get(each.key.id)) for number, each in enumerate(listed, 1)
        ]
        return numbered[after : after + limit]

    async def counts(self, most: int) -> RosterCounts:
        rows = self._data.accounts.values()
        counts = (
            len(rows),
            sum(map(_is_pending, rows)),
            sum(row.disabled_at is not None for row in rows),
            sum(key.revoked_at is None for key in self._data.keys.values()),
        )
        return RosterCounts(*(min(each, most + 1) for each in counts))

    async def totals(self, now: float) -> RosterTotals:
        keys = self._data.keys.values()
        valid = sum(key.revoked_at is None and not (key.expires_at and key.expires_at <= now) for key in keys)
        return RosterTotals(len(keys), valid, Counter(row.account.state for row in self._data.accounts.values()))

    def _account(self, row: AccountRow) -> ListedAccount:
        keys = sum(key.owner == row.id and key.revoked_at is None for key in self._data.keys.values())
        return ListedAccount(row.account, keys)

    def _key(self, key: ApiKey) -> ListedKey:
        owner = self._data.accounts.get(key.owner or "")
        return ListedKey(with_shared_quota(self._data, key), owner.email if owner else "")


def _is_pending(row: AccountRow) -> bool:
    return row.approved_at is None and row.disabled_at is None


def _page(rows: Iterable[T], order: Callable[[T], tuple[float, str]], after: str) -> list[T]:
    """Return the rows after the one with the id `after`, the newest first."""
    newest = sorted(rows, key=order, reverse=True)
    if not after:
        return newest
    places = [number for number, row in enumerate(newest, 1) if order(row)[1] == after]
    return newest[places[0] :] if places else []
