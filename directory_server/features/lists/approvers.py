"""Approvers of lists: accounts and groups that decide on the requests for a list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attrs import frozen

from ...domain.errors import BadInput
from ...tables import Rows, Tables
from .rules import MAX_APPROVERS, unknown_group
from .tables import GROUPS, LOCK

_OF_LIST = "SELECT reader, group_name FROM list_approver WHERE list = :list ORDER BY group_name, reader"

_LISTS = "SELECT DISTINCT list FROM list_approver"

_DELETE = "DELETE FROM list_approver WHERE list = :list AND reader = :reader AND group_name = :group"

_ADD = """
    INSERT INTO list_approver (list, reader, group_name) VALUES (:list, :reader, :group) ON CONFLICT DO NOTHING
"""

Approver = tuple[str, str]
"""The id of an account and an empty text, or an empty text and the name of a group."""


@frozen
class Approvers:
    """The approvers of all lists. All methods raise Unavailable. `_storage` has the adapters of all ports."""

    _tables: Tables
    _storage: Any

    async def of(self, list_name: str) -> Sequence[Approver]:
        """Return the approvers of a list, accounts first."""
        return [(reader, group) for reader, group in await self._tables.all(_OF_LIST, list=list_name)]

    async def lists(self) -> frozenset[str]:
        """Return the names of the lists that have approvers. Members can ask for entries on these."""
        return frozenset(name for (name,) in await self._tables.all(_LISTS))

    async def texts(self, list_name: str) -> Sequence[str]:
        """Return the approvers of a list as operators write them. Accounts that were deleted are left out."""
        texts = []
        for reader, group in await self.of(list_name):
            if group:
                texts.append(group)
            elif (listed := await self._storage.roster.account(reader)) is not None:
                texts.append(str(listed.account.email))
        return texts

    async def read(self, texts: Sequence[str]) -> Sequence[Approver]:
        """Return approvers from e-mail addresses of accounts and names of groups. Raises BadInput, NotFound."""
        if len(texts) > MAX_APPROVERS:
            raise BadInput(f"A list has at most {MAX_APPROVERS} approvers.", code="approver_wrong")
        known = {name for (name,) in await self._tables.all(GROUPS)}
        approvers = []
        for text in texts:
            account = await self._storage.accounts.find(text) if "@" in text else None
            if account is None and text not in known:
                raise (
                    unknown_group(text)
                    if "@" not in text
                    else BadInput(
                        "approvers: must be addresses of accounts and names of groups.", code="approver_wrong"
                    )
                )
            approvers.append(("", text) if account is None else (str(account.id), ""))
        return approvers

    async def set(self, list_name: str, approvers: Sequence[Approver]) -> None:
        """Make `approvers` the only ones of a list."""
        before = await self.of(list_name)
        await self.change(list_name, approvers, [approver for approver in before if approver not in approvers])

    async def change(self, list_name: str, added: Sequence[Approver], removed: Sequence[Approver]) -> None:
        """Add and remove approvers of a list. Raises BadInput."""

        def write(rows: Rows) -> None:
            rows.lock(LOCK)
            for reader, group in removed:
                rows.execute(_DELETE, list=list_name, reader=reader, group=group)
            for reader, group in added:
                rows.execute(_ADD, list=list_name, reader=reader, group=group)
            if len(rows.all(_OF_LIST, list=list_name)) > MAX_APPROVERS:
                raise BadInput(f"A list has at most {MAX_APPROVERS} approvers.", code="approver_wrong")

        await self._tables.write(write)
