"""Flags of look-alikes in memory, for the views of entries."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import define, evolve, field

from ...domain.entries import mcp_id_of
from ...domain.flags import ENTRY_FLAGS, EntryFlag, FlagView
from ...domain.limits import NAME
from ...domain.ports.additions import EntryAdditions
from ...domain.views import Detail
from ...sanitize import clean_line
from ...serialization import FLAG_META, rfc3339
from ...tables import Tables, flags_of_kinds

MAX_NOTES = 20
"""Look-alikes that the view of their original names."""


@define
class Flagged(EntryAdditions):
    """Flags of look-alikes, by the ids of both entries. A look-up reads no database."""

    _tables: Tables
    _notes: Mapping[str, tuple[FlagView, ...]] = field(factory=dict, init=False)

    async def refresh(self) -> None:
        """Read all flags. After an error, which is Unavailable, the flags are as they were."""
        flags = await self._tables.read(lambda rows: flags_of_kinds(rows, ENTRY_FLAGS))
        notes: dict[str, tuple[FlagView, ...]] = {}
        for mcp_id, found in flags.items():
            for flag in found:
                original = mcp_id_of(flag.other)
                notes[mcp_id] = (*notes.get(mcp_id, ()), _note(flag, original, flag.other, is_original=False))
                if flag.name and len(notes.get(original, ())) < MAX_NOTES:
                    copy = _note(flag, mcp_id, flag.name, is_original=True)
                    notes[original] = (*notes.get(original, ()), copy)
        self._notes = notes

    def add_summary(self, detail: Detail) -> Detail:
        """Return `detail` with the flags of its entry, and those that name it as the original."""
        notes = self._notes.get(detail.mcp_id)
        if notes is None:
            return detail
        kinds = dict.fromkeys([*detail.flags, *(note.kind for note in notes if not note.is_original)])
        return evolve(detail, flags=(*kinds,), flag_notes=(*detail.flag_notes, *notes))

    def registry_meta(self, name: str, *, names_others: bool = True) -> Mapping[str, object]:
        """Return the flags of the entry `name` for the registry API."""
        flags = [
            {
                "kind": note.kind,
                "reason": note.reason,
                "since": note.since,
                "other": note.server_name if names_others else "",
            }
            for note in self._notes.get(mcp_id_of(name), ())
            if not note.is_original
        ]
        return {FLAG_META: flags} if flags else {}


def _note(flag: EntryFlag, mcp_id: str, name: str, *, is_original: bool) -> FlagView:
    return FlagView(flag.kind, flag.reason, rfc3339(flag.since), mcp_id, clean_line(name, NAME), is_original)
