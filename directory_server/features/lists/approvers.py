"""Approvers of lists: accounts and groups that decide on the requests for a list."""

from __future__ import annotations

import re
from collections.abc import Sequence

from attrs import frozen

from ...domain.errors import BadInput
from ...serialization import decode_stored
from ...serialization import text as json_text
from ...tables import Rows, Storage, Tables, transaction
from .rules import MAX_APPROVERS, missing_group
from .tables import GROUPS, LOCK

_OF_LIST = "SELECT reader, group_name FROM list_approver WHERE list = :list ORDER BY group_name, reader"

_LISTS = "SELECT DISTINCT list FROM list_approver"

_ACCOUNTS = """
    SELECT account.id FROM account JOIN list_approver ON list_approver.reader = account.id WHERE list = :list
    UNION
    SELECT account.id FROM account JOIN group_member ON group_member.reader = account.id
        JOIN list_approver ON list_approver.group_name = group_member.group_name WHERE list = :list
    ORDER BY 1 LIMIT :limit
"""

_CLAIMS = """
    SELECT issuer, value FROM group_claim
    WHERE group_name IN (SELECT group_name FROM list_approver WHERE list = :list) ORDER BY issuer, value
"""

# The groups of a person are a JSON array. The pattern finds all that have the value, and a few others.
_CLAIMING = """
    SELECT account, groups FROM identity WHERE :issuer IN ('', issuer) AND groups LIKE :pattern ESCAPE '!'
        AND (renew_by IS NULL OR renew_by > clock_seconds())
    ORDER BY signed_in_at DESC LIMIT :limit
"""

_DELETE = "DELETE FROM list_approver WHERE list = :list AND reader = :reader AND group_name = :group"

_ADD = """
    INSERT INTO list_approver (list, reader, group_name) VALUES (:list, :reader, :group) ON CONFLICT DO NOTHING
"""

MAX_ACCOUNTS = 50
"""Accounts of approvers of a list that get e-mail."""

Approver = tuple[str, str]
"""The id of an account and an empty text, or an empty text and the name of a group."""


@frozen
class Approvers:
    """The approvers of all lists. All methods raise Unavailable. `_storage` has the adapters of all ports."""

    _tables: Tables
    _storage: Storage

    async def of(self, list_name: str) -> Sequence[Approver]:
        """Return the approvers of a list, accounts first."""
        return [(reader, group) for reader, group in await self._tables.all(_OF_LIST, list=list_name)]

    async def lists(self) -> frozenset[str]:
        """Return the names of the lists that have approvers. Members can ask for entries on these."""
        return frozenset(name for (name,) in await self._tables.all(_LISTS))

    async def accounts(self, list_name: str) -> Sequence[str]:
        """Return the ids of at most MAX_ACCOUNTS accounts that decide for a list, of groups by claims too."""
        found = [id for (id,) in await self._tables.all(_ACCOUNTS, list=list_name, limit=MAX_ACCOUNTS)]
        for issuer, value in await self._tables.all(_CLAIMS, list=list_name):
            pattern = re.sub("[!%_]", r"!\g<0>", json_text(value))
            rows = await self._tables.all(_CLAIMING, issuer=issuer, pattern=f"%{pattern}%", limit=MAX_ACCOUNTS)
            found += [account for account, groups in rows if value in decode_stored(groups.encode())]
        return list(dict.fromkeys(found))[:MAX_ACCOUNTS]

    async def texts(self, list_name: str) -> Sequence[str]:
        """Return the approvers of a list as operators write them. Accounts that were deleted are left out."""
        texts = []
        for reader, group in await self.of(list_name):
            if group:
                texts.append(group)
            elif (listed := await self._storage.people.roster.account(reader)) is not None:
                texts.append(str(listed.account.email))
        return texts

    async def read(self, texts: Sequence[str]) -> Sequence[Approver]:
        """Return approvers from e-mail addresses of accounts and names of groups. Raises BadInput."""
        if len(texts) > MAX_APPROVERS:
            raise BadInput(f"A list has at most {MAX_APPROVERS} approvers.", code="approver_wrong")
        known = {name for (name,) in await self._tables.all(GROUPS)}
        approvers = []
        for text in texts:
            account = await self._storage.people.accounts.find(text) if "@" in text else None
            if account is None and "@" in text:
                raise BadInput("approvers: must be addresses of accounts and names of groups.", code="approver_wrong")
            if account is None and text not in known:
                raise missing_group("approvers", text)
            approvers.append(("", text) if account is None else (str(account.id), ""))
        return approvers

    async def set(self, list_name: str, approvers: Sequence[Approver]) -> None:
        """Make `approvers` the only ones of a list."""
        before = await self.of(list_name)
        await self.change(list_name, approvers, [approver for approver in before if approver not in approvers])

    @transaction
    def change(self, rows: Rows, list_name: str, added: Sequence[Approver], removed: Sequence[Approver]) -> None:
        """Add and remove approvers of a list. Raises BadInput."""
        rows.lock(LOCK)
        for reader, group in removed:
            rows.execute(_DELETE, list=list_name, reader=reader, group=group)
        for reader, group in added:
            rows.execute(_ADD, list=list_name, reader=reader, group=group)
        if len(rows.all(_OF_LIST, list=list_name)) > MAX_APPROVERS:
            raise BadInput(f"A list has at most {MAX_APPROVERS} approvers.", code="approver_wrong")
