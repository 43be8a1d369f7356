"""Tables as readers of a scope see them: statements find only entries of the lists of the scope, and their records."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TypeVar, cast

from attrs import frozen

from ..domain.scopes import PRODUCTION, Scope, unknown_list
from ._tables import Row, Rows, Tables

T = TypeVar("T")

_ENTRY = re.compile(r"\b(FROM|JOIN) entry\b")

# 0 if the version is not stored any more: no record has this id, so that nobody gets another version instead.
_SHOWN = f"""
    coalesce((
        SELECT coalesce(pinned.id, 0) FROM list_channel LEFT JOIN record AS pinned ON pinned.name = list_channel.name
            AND pinned.version = list_channel.version AND NOT pinned.deleted
            AND pinned.source = (SELECT chosen.source FROM record AS chosen WHERE chosen.id = entry.preferred_id)
        WHERE list_channel.list = ANY(:scope) AND list_channel.name = entry.name AND alias = '{PRODUCTION}'
        ORDER BY list_channel.list LIMIT 1
    ), preferred_id)
"""

_WITHIN = rf"""\1 (
    SELECT mcp_id, name, seq, updated_at, hidden, pinned, allowed, curated, rule, {_SHOWN} AS preferred_id,
        CASE WHEN visible_id IS NOT NULL THEN {_SHOWN} END AS visible_id
    FROM entry WHERE EXISTS (
        SELECT 1 FROM list_entry
        WHERE list_entry.mcp_id = entry.mcp_id AND list_entry.list = ANY(:scope) AND left_at IS NULL
    )
) AS entry"""

_RECORD = re.compile(r"\b(FROM|JOIN) record\b(?! AS)")

# Of an entry that is there by an approval only, one record is visible: the one that represents it.
_RECORD_WITHIN = r"""\1 (
    SELECT * FROM record WHERE EXISTS (
        SELECT 1 FROM entry AS named INNER JOIN list_entry ON list_entry.mcp_id = named.mcp_id
            INNER JOIN entry_list ON entry_list.name = list_entry.list
        WHERE named.name = record.name AND list_entry.list = ANY(:scope) AND left_at IS NULL AND (
            named.preferred_id = record.id OR NOT holds_versions OR NOT EXISTS (
                SELECT 1 FROM list_approval
                WHERE list_approval.list = list_entry.list AND list_approval.name = record.name
            )
        )
    )
) AS record"""

CHANGED_WITHIN = """
    EXISTS (
        SELECT 1 FROM list_entry
        WHERE list_entry.mcp_id = change.mcp_id AND list_entry.list = ANY(:scope)
            AND (left_at IS NULL OR left_at = change.seq)
    )
"""
"""The condition of changes that readers of a scope see: of its entries, and those with which entries left it."""

_LISTS = "SELECT mcp_id, list, joined_at, left_at FROM list_entry WHERE mcp_id = ANY(:mcp_ids) ORDER BY list"


_READY = "SELECT name, is_all FROM entry_list WHERE is_all OR seq >= 0 ORDER BY name"


async def ready_lists(tables: Tables) -> Mapping[str, bool]:
    """Return the names of the lists whose entries are known, each with whether it has all entries."""
    return dict(await tables.all(_READY))


_ALIASED = """
    SELECT version FROM list_channel WHERE list = ANY(:scope) AND name = :name AND alias = :alias ORDER BY list LIMIT 1
"""


async def version_of_alias(tables: Tables, scope: Sequence[str], name: str, alias: str) -> str | None:
    """Return the version of an entry that an alias means on one of the lists of a scope, None for none."""
    row = await tables.one(_ALIASED, scope=scope, name=name, alias=alias)
    return None if row is None else str(row[0])


async def scope_of_list(tables: Tables, name: str) -> Scope:
    """Return the scope of a list, which an operator has named. Raises NotFound unless its entries are known."""
    lists = await ready_lists(tables)
    if name not in lists:
        raise unknown_list(name)
    return None if lists[name] else frozenset({name})


def lists_of(rows: Rows, mcp_ids: Sequence[str]) -> Mapping[str, Sequence[tuple[str, int | None, int | None]]]:
    """Return the lists that entries are or were in, with the changes with which they joined and left, by mcp_id."""
    lists: dict[str, list[tuple[str, int | None, int | None]]] = {}
    for mcp_id, *listed in rows.all(_LISTS, mcp_ids=list(mcp_ids)):
        lists.setdefault(mcp_id, []).append(tuple(listed))
    return lists


@cache
def _statement_within(statement: str) -> str:
    return _RECORD.sub(_RECORD_WITHIN, _ENTRY.sub(_WITHIN, statement))


def _within(statement: str, values: Mapping[str, object], scope: Sequence[str]) -> tuple[str, Mapping[str, object]]:
    """Return `statement` and its values, restricted to what the lists `scope` have if it reads entries or records."""
    restricted = _statement_within(statement)
    return restricted, {**values, "scope": scope} if restricted != statement else values


@frozen
class _RowsWithin:
    """A transaction that only reads. It has no other methods, so a write is an error."""

    _rows: Rows
    _scope: Sequence[str]

    def one(self, statement: str, /, **values: object) -> Row:
        statement, restricted = _within(statement, values, self._scope)
        return self._rows.one(statement, **restricted)

    def all(self, statement: str, /, **values: object) -> list[Row]:
        statement, restricted = _within(statement, values, self._scope)
        return self._rows.all(statement, **restricted)


@frozen
class TablesWithin(Tables):
    """The tables for reads within the lists `scope`."""

    _tables: Tables
    _scope: Sequence[str]

    async def one(self, statement: str, /, **values: object) -> Row:
        statement, restricted = _within(statement, values, self._scope)
        return await self._tables.one(statement, **restricted)

    async def read(self, function: Callable[[Rows], T]) -> T:
        return await self._tables.read(lambda rows: function(cast(Rows, _RowsWithin(rows, self._scope))))

    async def write(self, function: Callable[[Rows], T], *, waits: bool = True) -> T:
        raise AssertionError("the tables of a scope are only read")
