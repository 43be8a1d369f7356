"""End of life of entries: notes, whose state follows the date."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attrs import evolve, frozen

from ..domain.changes import Cause
from ..domain.endings import Ending, Setter, ending_of, unknown_entry
from ..domain.entries import is_storable, mcp_id_of
from ..domain.errors import BadInput, NotFound
from ..domain.notes import ACCEPTED, ENDING, FORMER, Note
from ._listing import mark_updated
from ._locking import PUBLISHERS
from ._notes import note_of, notes_of, notes_of_kinds, put_notes
from ._tables import Rows, Tables, transaction

MAX_FORMER = 20
"""Former names of an entry, by whose words searches find it."""

_IS_VISIBLE = "SELECT 1 FROM entry WHERE mcp_id = :mcp_id AND name = :name AND visible_id IS NOT NULL"

_VISIBLE = """
    SELECT kind, reason, since, other, body, body_id, name FROM note INNER JOIN entry ON entry.mcp_id = note.mcp_id
    WHERE kind = :kind AND visible_id IS NOT NULL
"""

_FIND = f"{_VISIBLE} AND note.mcp_id IN (:mcp_id, :of_name)"

_PAGE = f"""
    {_VISIBLE} AND (reason LIKE :moved) = CAST(:is_moved AS boolean)
        AND (reason > :reason OR reason = :reason AND note.mcp_id > :after)
    ORDER BY reason, note.mcp_id LIMIT :limit
"""

_NAMES = """
    SELECT name FROM entry WHERE name > :first AND name < :last AND visible_id IS NOT NULL ORDER BY name LIMIT :limit
"""


@frozen
class Carried:
    """The new name of an entry that has moved, else empty; the flags that it gave to that, and those that it got."""

    new: str
    given: Sequence[str]
    got: Sequence[str]


@frozen
class StoredEndings:
    """The ends of life of entries, set by operators and publishers. All methods raise Unavailable."""

    _tables: Tables

    async def page(self, limit: int, after: str = "", *, moved: bool) -> Sequence[Ending]:
        """Return at most `limit` of visible entries, the earliest first, after that of the entry with the id `after`.

        They are moves, or others.
        """

        def read(rows: Rows) -> Sequence[Ending]:
            last = note_of(rows, after, ENDING)
            reason = "" if last is None else last.reason
            values = {"moved": "% moved", "is_moved": moved, "reason": reason, "after": after, "limit": limit}
            return [_of_row(row) for row in rows.all(_PAGE, kind=ENDING, **values)]

        return await self._tables.read(read)

    async def find(self, name_or_id: str) -> Ending | None:
        """Return that of the visible entry with a name or an id, None if it has none."""
        if not is_storable(name_or_id):
            return None
        rows = await self._tables.select(_FIND, kind=ENDING, mcp_id=name_or_id, of_name=mcp_id_of(name_or_id))
        return next(map(_of_row, rows), None)

    async def names(self, namespace: str, limit: int) -> Sequence[str]:
        """Return the names of the first `limit` visible entries of a namespace."""
        rows = await self._tables.select(_NAMES, first=f"{namespace}/", last=f"{namespace}0", limit=limit)
        return [name for (name,) in rows]

    @transaction
    def put_former(self, rows: Rows, ending: Ending, carried: Sequence[str] = ()) -> None:
        """Store the former name of an entry, which may be published later, and the marks accepted for that name.

        `carried` are curation flags that the entry gets by this move. Raises BadInput and Forbidden.
        """
        self._lock(rows, ending.name, ending.setter)
        _check_visible(rows, "name", ending.name)
        new = ending.replaced_by
        target = _ending(rows, new)
        if target is not None and target.state == "moved":
            raise BadInput(f"new_name: {new[:200]!r} has moved itself.", code="move_new_name_moved")
        notes = notes_of(rows, mcp_id_of(new), FORMER)
        if len(notes) >= MAX_FORMER and all(note.other != ending.name for note in notes):
            raise BadInput(f"new_name: at most {MAX_FORMER} names move to one.", code="move_new_name_full")
        others = [note for note in notes if note.other != ending.name]
        known = next((note.reason.split() for note in notes if note.other == ending.name), [])
        note = Note(FORMER, " ".join(dict.fromkeys([*known, *carried])), other=ending.name)
        put_notes(rows, [FORMER], {mcp_id_of(new): [*others, note]})
        accepted = note_of(rows, ending.mcp_id, ACCEPTED)
        if accepted is not None and note_of(rows, mcp_id_of(new), ACCEPTED) is None:
            put_notes(rows, [ACCEPTED], {mcp_id_of(new): [Note(ACCEPTED, accepted.reason)]})

    async def carried(self, name: str) -> Carried:
        """Return the curation flags that moves have carried from and to the entry `name`."""

        def read(rows: Rows) -> Carried:
            ending = _ending(rows, name)
            new = "" if ending is None or ending.state != "moved" else ending.replaced_by
            notes = notes_of(rows, mcp_id_of(new), FORMER) if new else []
            given = [flag for note in notes if note.other == name for flag in note.reason.split()]
            got = [flag for note in notes_of(rows, mcp_id_of(name), FORMER) for flag in note.reason.split()]
            return Carried(new, given, got)

        return await self._tables.read(read)

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
        if before is not None and before.replaced_by != ending.replaced_by:
            _forget_former(rows, before)
        _put(rows, ending.mcp_id, [ending.note()], "ending" if ending.state == "moved" else "judgement")

    @transaction
    def remove(self, rows: Rows, name: str, setter: Setter = "operator") -> None:
        """Remove the end of life of an entry, or take back its move. Raises NotFound and Forbidden."""
        before = self._lock(rows, name, setter)
        if before is None:
            raise NotFound(f"No end of life of {name[:200]!r} is set.")
        _put(rows, mcp_id_of(name), [], "judgement")
        _forget_former(rows, before)

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


def _of_row(row: Sequence[Any]) -> Ending:
    *note, name = row
    ending = ending_of(name, [Note(*note)])
    assert ending is not None
    return ending


def _forget_former(rows: Rows, moved: Ending) -> None:
    """Remove the former name of an entry, whose move is `moved`, from the one that it moved to."""
    if moved.state == "moved":
        new = mcp_id_of(moved.replaced_by)
        others = [note for note in notes_of(rows, new, FORMER) if note.other != moved.name]
        put_notes(rows, [FORMER], {new: others})


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
