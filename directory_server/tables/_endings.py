"""End of life of entries: notes, whose state follows the date."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import evolve, frozen

from ..domain.changes import Cause
from ..domain.endings import Ending, Setter, ending_of, unknown_entry
from ..domain.entries import mcp_id_of
from ..domain.errors import BadInput, NotFound
from ..domain.notes import ENDING, FORMER, Note
from ._listing import mark_updated
from ._locking import PUBLISHERS
from ._notes import note_of, notes_of_kinds, put_notes
from ._tables import Rows, Tables, transaction

_IS_VISIBLE = "SELECT 1 FROM entry WHERE mcp_id = :mcp_id AND name = :name AND visible_id IS NOT NULL"

_NAMES = """
    SELECT name FROM entry WHERE name > :first AND name < :last AND visible_id IS NOT NULL ORDER BY name LIMIT :limit
"""


@frozen
class StoredEndings:
    """The ends of life of entries, set by operators and publishers. All methods raise Unavailable."""

    _tables: Tables

    async def list(self) -> Sequence[Ending]:
        """Return all of visible entries, the earliest first."""
        stored = await self._tables.read(lambda rows: notes_of_kinds(rows, [ENDING], visible=True))
        endings = filter(None, [ending_of(notes[0].name, notes) for notes in stored.values()])
        return sorted(endings, key=lambda ending: (ending.date, ending.name))

    async def names(self, namespace: str, limit: int) -> Sequence[str]:
        """Return the names of the first `limit` visible entries of a namespace."""
        rows = await self._tables.select(_NAMES, first=f"{namespace}/", last=f"{namespace}0", limit=limit)
        return [name for (name,) in rows]

    @transaction
    def put_former(self, rows: Rows, ending: Ending) -> None:
        """Store the former name of an entry, which may be published later. Raises BadInput and Forbidden."""
        self._lock(rows, ending.name, ending.setter)
        _check_visible(rows, "name", ending.name)
        new = ending.replaced_by
        target = _ending(rows, new)
        if target is not None and target.state == "moved":
            raise BadInput(f"new_name: {new[:200]!r} has moved itself.", code="move_new_name_moved")
        notes = notes_of_kinds(rows, [FORMER]).get(mcp_id_of(new), [])
        put_notes(rows, [FORMER], {mcp_id_of(new): [*notes, Note(FORMER, other=ending.name)]})

    @transaction
    def put(self, rows: Rows, ending: Ending) -> None:
        """Set the end of life of an entry. Raises BadInput for unknown entries, and Forbidden."""
        before = self._lock(rows, ending.name, ending.setter)
        for field, name in (("name", ending.name), ("replaced_by", ending.replaced_by)):
            if name:
                _check_visible(rows, field, name)
        if before is not None and before.state == "moved" != ending.state:
            raise BadInput(f"name: {ending.name[:200]!r} has moved. Take that back first.", code="ending_name_moved")
        if before is not None and before.date == ending.date and ending.state != "moved":
            # What was announced for this date is not announced again.
            ending = evolve(ending, state=before.state)
        _put(rows, ending.mcp_id, [ending.note()], "ending" if ending.state == "moved" else "judgement")

    @transaction
    def remove(self, rows: Rows, name: str, setter: Setter = "operator") -> None:
        """Remove the end of life of an entry, or take back its move. Raises NotFound and Forbidden."""
        before = self._lock(rows, name, setter)
        if before is None:
            raise NotFound(f"No end of life of {name[:200]!r} is set.")
        _put(rows, mcp_id_of(name), [], "judgement")
        if before.state == "moved":
            new = mcp_id_of(before.replaced_by)
            others = [note for note in notes_of_kinds(rows, [FORMER]).get(new, ()) if note.other != name]
            put_notes(rows, [FORMER], {new: others})

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
        before = _ending(rows, name)
        if before is not None:
            before.check_setter(setter)
        return before


def _check_visible(rows: Rows, field: str, name: str) -> None:
    if rows.one(_IS_VISIBLE, mcp_id=mcp_id_of(name), name=name) is None:
        raise unknown_entry(field, name)


def _ending(rows: Rows, name: str) -> Ending | None:
    note = note_of(rows, mcp_id_of(name), ENDING)
    return None if note is None else ending_of(name, [note])


def _put(rows: Rows, mcp_id: str, notes: Sequence[Note], cause: Cause) -> int:
    changed = put_notes(rows, [ENDING], {mcp_id: notes}, cause)
    if changed:
        mark_updated(rows, mcp_id)
    return changed
