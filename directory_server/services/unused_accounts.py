"""Deletion of unused accounts that were never approved."""

from __future__ import annotations

from collections.abc import Callable

from attrs import define
from twisted.logger import Logger

from ..domain.errors import Unavailable
from ..domain.ports.access import Quota
from ..domain.ports.accounts import Accounts

AT_ONCE = 20
"""The most accounts that one call of `remove` checks."""


@define(eq=False)
class UnusedAccounts:
    """Deletes accounts that are not approved and were not used for `lifetime` seconds.

    An account is used when its owner opens a page while signed in, and when a request is charged to its shared quota.
    """

    _log = Logger()

    _accounts: Accounts
    _quota: Quota
    _now: Callable[[], float]
    _lifetime: float
    _after: str = ""

    async def remove(self) -> None:
        """Delete the unused accounts among the next AT_ONCE; the next call continues after these.

        If the database is unavailable, log it and leave the work to the next call.
        """
        try:
            await self._remove()
        except Unavailable as error:
            self._log.warn("Unused accounts cannot be deleted: {reason}", reason=error.message)

    async def _remove(self) -> None:
        before = self._now() - self._lifetime
        found = await self._accounts.unused(before, after=self._after, limit=AT_ONCE)
        self._after = found[-1].id if len(found) == AT_ONCE else ""
        removed = 0
        for each in found:
            spent_at = await self._quota.last(each.id)
            if spent_at is None or spent_at <= before:
                removed += await self._accounts.remove(each.id, before=before)
        if removed:
            self._log.info("Deleted {count} unused accounts that were not approved", count=removed)
