"""Scopes: the lists that a client sees, read for each request, so a change counts from the next request on."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from attrs import frozen

from ...domain.accounts import SEEING_ALL
from ...domain.entries import is_storable
from ...domain.scopes import Scope, unknown_list
from ...serialization import decode_stored
from ...tables import Tables, ready_lists

_READER = """
    SELECT account.role, identity.role, issuer, groups FROM account LEFT JOIN identity
        ON identity.account = account.id AND (identity.renew_by IS NULL OR identity.renew_by > :now)
    WHERE account.id = :reader
"""

_OF_CLAIMS = "SELECT group_name FROM group_claim WHERE issuer IN ('', :issuer) AND value = ANY(:claims)"

_VISIBLE = """
    SELECT name, is_all FROM entry_list WHERE (is_all OR seq >= 0) AND (is_open OR EXISTS (
        SELECT 1 FROM list_group WHERE list_group.list = entry_list.name AND (
            group_name = ANY(:groups)
            OR group_name IN (SELECT group_name FROM group_member WHERE group_member.reader = :reader)
        )
    ))
"""

_DECIDED = """
    SELECT DISTINCT list FROM list_approver WHERE reader = :reader OR group_name = ANY(:groups)
        OR group_name IN (SELECT group_name FROM group_member WHERE group_member.reader = :reader)
"""

_AccountRow = tuple[str, str | None, str | None, str | None]
"""The role of an account; of a person who signs in to it: the role by her issuer, the issuer and her groups."""


@frozen
class ReaderScopes:
    """The scopes of readers in the tables of the database. Operators and auditors see all entries."""

    _tables: Tables
    _now: Callable[[], float]

    async def of(self, reader: str | None, name: str = "") -> Scope:
        reader, rows = await self._read(reader)
        if _sees_all(rows) and not name:
            return None
        visible = await self._visible(reader, rows)
        if name:
            if name not in visible:
                raise unknown_list(name)
            return None if visible[name] else frozenset({name})
        return None if any(visible.values()) else frozenset(visible)

    async def names(self, reader: str) -> Collection[str]:
        """Return the names of the lists that a reader sees. Raises Unavailable."""
        return await self._visible(*await self._read(reader))

    async def decided_by(self, account_id: str) -> Collection[str]:
        """Return the names of the lists of which an account is an approver. Raises Unavailable."""
        reader, rows = await self._read(account_id)
        # An account that was deleted may still be an approver.
        if not rows:
            return ()
        found = await self._tables.all(_DECIDED, reader=reader, groups=await self._groups(rows))
        return [name for (name,) in found]

    async def _read(self, reader: str | None) -> tuple[str, Sequence[_AccountRow]]:
        """Return the id of a reader, empty for none, and what is stored of the account with this id."""
        if not reader or not is_storable(reader):
            return "", []
        return reader, await self._tables.all(_READER, reader=reader, now=self._now())

    async def _visible(self, reader: str, rows: Sequence[_AccountRow]) -> Mapping[str, bool]:
        """Return the names of the lists that a reader sees, each with whether it has all entries."""
        if _sees_all(rows):
            return await ready_lists(self._tables)
        return dict(await self._tables.all(_VISIBLE, reader=reader, groups=await self._groups(rows)))

    async def _groups(self, rows: Sequence[_AccountRow]) -> Sequence[str]:
        groups: list[str] = []
        for _, _, issuer, stored in rows:
            if issuer is not None and stored is not None and (claims := decode_stored(stored.encode())):
                found = await self._tables.all(_OF_CLAIMS, issuer=issuer, claims=claims)
                groups += [group for (group,) in found]
        return groups


def _sees_all(rows: Sequence[_AccountRow]) -> bool:
    return any(own in SEEING_ALL or given in SEEING_ALL for own, given, _, _ in rows)
