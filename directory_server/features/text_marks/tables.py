"""Marks that operators have accepted: notes on entries."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attrs import frozen

from ...domain.entries import mcp_id_of
from ...domain.errors import BadInput
from ...domain.marks import MAX_MARKS
from ...domain.notes import ACCEPTED, Note, accepted_marks
from ...tables import PUBLISHERS, Rows, Tables, note_of, notes_of_kinds, put_notes, transaction

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

    async def entries(self) -> Sequence[str]:
        """Return the ids of the entries with accepted marks."""
        return [*await self._tables.read(lambda rows: notes_of_kinds(rows, [ACCEPTED]))]

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
        # Two operators who accept marks of one entry wait for each other.
        rows.lock(PUBLISHERS)
        note = note_of(rows, mcp_id, ACCEPTED)
        after = of(accepted_marks([note] if note else []))
        if len(after) > MAX_ACCEPTED:
            raise BadInput(f"An entry has at most {MAX_ACCEPTED} accepted marks.", code="too_many")
        notes = [Note(ACCEPTED, " ".join(after))] if after else []
        return put_notes(rows, [ACCEPTED], {mcp_id: notes}) > 0
