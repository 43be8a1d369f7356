"""Notes on entries in memory, for requests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import define, evolve, field

from ..domain.changes import Change
from ..domain.entries import mcp_id_of
from ..domain.notes import IN_MEMORY, Note, accepted_marks
from ..tables import Tables, notes_of_kinds

Notes = Sequence[Note]


@define
class KnownNotes:
    """The notes of kinds IN_MEMORY on visible entries, as of the changes that the index has."""

    _tables: Tables
    _notes: dict[str, Notes] = field(factory=dict, init=False)
    _naming: dict[str, Mapping[str, Notes]] = field(factory=dict, init=False)
    """The notes that name an entry as the other one, by its id and the id of the entry with the note."""

    def of(self, mcp_id: str) -> Notes:
        return self._notes.get(mcp_id, ())

    def naming(self, mcp_id: str) -> Notes:
        """Return the notes on other entries that name this one."""
        return [note for notes in self._naming.get(mcp_id, {}).values() for note in notes]

    def accepted(self, mcp_id: str) -> Sequence[str]:
        """Return the ids of the marks of an entry's texts that an operator has accepted."""
        return accepted_marks(self.of(mcp_id))

    async def load(self) -> None:
        """Read the notes, at the start: the changes after the file of the index are not those of all entries."""
        notes = await self._tables.read(lambda rows: notes_of_kinds(rows, IN_MEMORY, visible=True))
        for mcp_id in self._notes.keys() | notes.keys():
            self._put(mcp_id, notes.get(mcp_id, ()))

    async def apply(self, changes: Sequence[Change]) -> None:
        """Replace the notes on the entries of `changes`."""
        for change in changes:
            notes = () if change.body is None else change.notes
            self._put(change.mcp_id, [evolve(note, name=change.name) for note in notes if note.kind in IN_MEMORY])

    def _put(self, mcp_id: str, notes: Notes) -> None:
        for other in {mcp_id_of(note.other) for note in self._notes.pop(mcp_id, ()) if note.other}:
            naming = {key: named for key, named in self._naming.pop(other, {}).items() if key != mcp_id}
            if naming:
                self._naming[other] = naming
        if notes:
            self._notes[mcp_id] = notes
        for other in {mcp_id_of(note.other) for note in notes if note.other}:
            named = [note for note in notes if note.other and mcp_id_of(note.other) == other]
            self._naming[other] = {**self._naming.get(other, {}), mcp_id: named}
