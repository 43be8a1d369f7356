"""Flags of look-alikes in the views of entries."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import attrgetter

from attrs import evolve, frozen

from ...domain.entries import mcp_id_of
from ...domain.flags import ENTRY_FLAGS, FlagView
from ...domain.limits import NAME
from ...domain.notes import Note
from ...domain.ports.additions import EntryAdditions
from ...domain.views import Detail
from ...serialization import FLAG_META, rfc3339
from ...services.known_notes import KnownNotes
from ...texts.sanitize import clean_line

MAX_NOTES = 20
"""Look-alikes that the view of their original names."""


@frozen
class Flagged(EntryAdditions):
    """Flags of look-alikes, in the views of both entries."""

    _notes: KnownNotes

    def add_summary(self, detail: Detail) -> Detail:
        """Return `detail` with the flags of its entry, and those that name it as the original."""
        own = [note for note in self._notes.of(detail.mcp_id) if note.kind in ENTRY_FLAGS]
        naming = [note for note in self._notes.naming(detail.mcp_id) if note.kind in ENTRY_FLAGS]
        copies = sorted(naming, key=attrgetter("name"))[:MAX_NOTES]
        if not (own or copies):
            return detail
        views = [
            *(_view(note, note.other, is_original=False) for note in own),
            *(_view(note, note.name, is_original=True) for note in copies),
        ]
        flags = dict.fromkeys([*detail.flags, *(note.kind for note in own)])
        return evolve(detail, flags=(*flags,), flag_notes=(*detail.flag_notes, *views))

    def registry_meta(self, mcp_id: str, sees: Callable[[str], bool]) -> Mapping[str, object]:
        """Return the flags of the entry `mcp_id` for the registry API."""
        flags = [
            {
                "kind": note.kind,
                "reason": note.reason,
                "since": rfc3339(note.since),
                "other": clean_line(note.other, NAME) if note.other and sees(mcp_id_of(note.other)) else "",
            }
            for note in self._notes.of(mcp_id)
            if note.kind in ENTRY_FLAGS
        ]
        return {FLAG_META: flags} if flags else {}


def _view(note: Note, name: str, *, is_original: bool) -> FlagView:
    """Return the view of a flag that names the other entry `name`."""
    mcp_id = mcp_id_of(name) if name else ""
    return FlagView(note.kind, note.reason, rfc3339(note.since), mcp_id, clean_line(name, NAME), is_original)
