"""End of life of entries: notes, whose state follows the date."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import evolve, frozen

from ..domain.changes import Cause
from ..domain.endings import Ending, Setter, ending_of
from ..domain.entries import mcp_id_of
from ..domain.errors import BadInput, NotFound
from ..domain.notes import ENDING, Note
from ._locking import PUBLISHERS
from ._notes import note_of, notes_of_kinds, put_notes
from ._tables import Rows, Tables, transaction

_IS_VISIBLE = "SELECT 1 FROM entry WHERE mcp_id = :mcp_id AND name = :name AND visible_id IS NOT NULL"

_UPDATED = "UPDATE entry SET updated_at = clock_seconds() WHERE mcp_id = :mcp_id"
"""Mirrors that follow the registry API ask for what was updated."""


@frozen
class StoredEndings:
    """The ends of life of entries, set by operators and publishers. All methods raise Unavailable."""

    _tables: Tables

    async def list(self) -> Sequence[Ending]:
        """Return all of visible entries, the earliest first."""
        stored = await self._tables.read(lambda rows: notes_of_kinds(rows, [ENDING], visible=True))
        endings = filter(None, [ending_of(notes[0].name, notes) for notes in stored.values()])
        return sorted(endings, key=lambda ending: (ending.date, ending.name))

    @transaction
    def put(self, rows: Rows, ending: Ending) -> None:
        """Set the end of life of an entry. Raises BadInput for unknown entries, and Forbidden."""
        before = self._lock(rows, ending.name, ending.setter)
        for field, name in (("name", ending.name), ("replaced_by", ending.replaced_by)):
            if name and rows.one(_IS_VISIBLE, mcp_id=mcp_id_of(name), name=name) is None:
                raise BadInput(f"{field}: no entry has the name {name[:200]!r}.", code=f"ending_{field}_unknown")
        if before is not None and before.date == ending.date and "moved" not in (before.state, ending.state):
            # What was announced for this date is not announced again.
            ending = evolve(ending, state=before.state)
        _put(rows, ending.mcp_id, [ending.note()], "ending" if ending.state == "moved" else "judgement")

    @transaction
    def remove(self, rows: Rows, name: str, setter: Setter = "operator") -> None:
        """Remove the end of life of an entry. Raises NotFound and Forbidden."""
        if self._lock(rows, name, setter) is None:
            raise NotFound(f"No end of life of {name[:200]!r} is set.")
        _put(rows, mcp_id_of(name), [], "judgement")

    @transaction
    def advance(self, rows: Rows, now: float, seconds: float) -> int:
        """Bring the states up to date, and log changes with the cause "ending"; return their number.

        `now` is in seconds since the epoch. The last day is near `seconds` before it.
        """
        changed = 0
        for mcp_id, notes in notes_of_kinds(rows, [ENDING], visible=True).items():
            ending = ending_of(notes[0].name, notes)
            if ending is not None and ending != (present := ending.at(now, seconds)):
                changed += _put(rows, mcp_id, [present.note()], "ending")
        return changed

    def _lock(self, rows: Rows, name: str, setter: Setter) -> Ending | None:
        """Lock the notes, and return the end of life of an entry. Raises Forbidden if `setter` may not change it."""
        rows.lock(PUBLISHERS)
        note = note_of(rows, mcp_id_of(name), ENDING)
        before = None if note is None else ending_of(name, [note])
        if before is not None:
            before.check_setter(setter)
        return before


def _put(rows: Rows, mcp_id: str, notes: Sequence[Note], cause: Cause) -> int:
    changed = put_notes(rows, [ENDING], {mcp_id: notes}, cause)
    if changed:
        rows.execute(_UPDATED, mcp_id=mcp_id)
    return changed
