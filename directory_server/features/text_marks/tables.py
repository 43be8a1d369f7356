"""Marks that operators have accepted, in the tables of the database."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from attrs import frozen

from ...domain.entries import mcp_id_of
from ...domain.errors import BadInput
from ...domain.marks import MAX_MARKS
from ...tables import Rows, Tables, log_change, transaction

_ALL = "SELECT mcp_id, accepted FROM accepted_marks"

_ONE = "SELECT accepted FROM accepted_marks WHERE mcp_id = :mcp_id"

_PUT = """
    INSERT INTO accepted_marks (mcp_id, accepted) VALUES (:mcp_id, :accepted)
    ON CONFLICT (mcp_id) DO UPDATE SET accepted = excluded.accepted
"""

_DROP = "DELETE FROM accepted_marks WHERE mcp_id = :mcp_id"

# Two operators who accept marks of one entry wait for each other.
_LOCK = "LOCK TABLE accepted_marks IN SHARE ROW EXCLUSIVE MODE"

MAX_ACCEPTED = 4 * MAX_MARKS
"""Accepted marks of an entry, so that a row is bounded. Marks of texts that have changed count too."""

MAX_ID = 60
"""Characters of the id of a mark."""

Change = Callable[[Sequence[str]], Sequence[str]]
"""Returns other accepted marks for those of an entry."""


@frozen
class AcceptedMarks:
    """The ids of accepted marks by entry. All methods raise Unavailable."""

    _tables: Tables

    async def all(self) -> Mapping[str, Collection[str]]:
        """Return the accepted marks of all entries that have any, by the id of the entry."""
        return {mcp_id: frozenset(ids.split()) for mcp_id, ids in await self._tables.select(_ALL)}

    async def accept(self, name: str, mark_id: str) -> bool:
        """Accept a mark of the entry `name`; return whether it was not accepted before. Raises BadInput."""
        if not (mark_id.isascii() and mark_id.isprintable() and 0 < len(mark_id) <= MAX_ID and " " not in mark_id):
            raise BadInput("mark: must be the id of a mark.", code="mark_wrong")
        return await self._change(name, lambda ids: [*ids, mark_id] if mark_id not in ids else ids)

    async def withdraw(self, name: str) -> bool:
        """Withdraw all accepted marks of the entry `name`; return whether there were any."""
        return await self._change(name, lambda ids: [])

    @transaction
    def _change(self, rows: Rows, name: str, of: Change) -> bool:
        mcp_id = mcp_id_of(name)
        rows.lock(_LOCK)
        row = rows.one(_ONE, mcp_id=mcp_id)
        before = row[0].split() if row else []
        after = of(before)
        if len(after) > MAX_ACCEPTED:
            raise BadInput(f"An entry has at most {MAX_ACCEPTED} accepted marks.", code="too_many")
        if list(after) == before:
            return False
        if after:
            rows.execute(_PUT, mcp_id=mcp_id, accepted=" ".join(after))
        else:
            rows.execute(_DROP, mcp_id=mcp_id)
        # All indexes read the marks of an entry with its change.
        log_change(rows, mcp_id, "judgement")
        return True
