"""Notes on entries, which the change log has too."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ..domain.changes import Cause
from ..domain.notes import Note
from ._locking import PUBLISHERS
from ._tables import Rows
from ._visibility import log_change

_OF_KINDS = """
    SELECT note.mcp_id, kind, reason, since, other, body, body_id, coalesce(name, ''), visible_id IS NOT NULL
    FROM note LEFT JOIN entry ON entry.mcp_id = note.mcp_id
    WHERE kind = ANY(:kinds) ORDER BY note.mcp_id, kind, other
"""

_OF_ENTRY = """
    SELECT kind, reason, since, other, body, body_id FROM note WHERE mcp_id = :mcp_id AND kind = ANY(:kinds)
"""

_CLEAR = "DELETE FROM note WHERE mcp_id = :mcp_id AND kind = ANY(:kinds)"

_ADD = """
    INSERT INTO note (mcp_id, kind, other, reason, since, body, body_id)
    SELECT mcp_id, kind, other, reason, since, body, body_id
    FROM input(mcp_id text, kind text, other text, reason text, since double precision, body bytea, body_id text)
    WHERE true
"""


def notes_of_kinds(rows: Rows, kinds: Sequence[str], *, visible: bool = False) -> dict[str, list[Note]]:
    """Return all notes of `kinds` by the mcp_id of their entries, or only those of visible entries.

    Shared bodies are not read.
    """
    notes: dict[str, list[Note]] = {}
    for mcp_id, *fields, is_visible in rows.all(_OF_KINDS, kinds=kinds):
        if is_visible or not visible:
            notes.setdefault(mcp_id, []).append(Note(*fields))
    return notes


def note_of(rows: Rows, mcp_id: str, kind: str) -> Note | None:
    return next(iter(notes_of(rows, mcp_id, kind)), None)


def notes_of(rows: Rows, mcp_id: str, kind: str) -> list[Note]:
    """Return the notes of `kind` on an entry."""
    return [Note(*row) for row in rows.all(_OF_ENTRY, mcp_id=mcp_id, kinds=[kind])]


def put_notes(rows: Rows, kinds: Sequence[str], notes: Mapping[str, Iterable[Note]], cause: Cause = "judgement") -> int:
    """Replace the notes of `kinds` on the entries whose mcp_id is in `notes`; return the number of changed entries.

    A note that was stored with the same content keeps its time. Changed entries that are visible are logged, with the
    `cause`.
    """
    changed = 0
    for mcp_id, wanted in sorted(notes.items()):
        new = {_content(note): note for note in wanted}
        if new.keys() == _stored(rows, mcp_id, kinds).keys():
            continue
        rows.lock(PUBLISHERS)
        stored = _stored(rows, mcp_id, kinds)
        if new.keys() == stored.keys():
            # Another process has put the same notes meanwhile.
            continue
        changed += 1
        rows.execute(_CLEAR, mcp_id=mcp_id, kinds=kinds)
        rows.many(_ADD, [_row(mcp_id, stored.get(content, note)) for content, note in new.items()])
        log_change(rows, mcp_id, cause)
    return changed


def _stored(rows: Rows, mcp_id: str, kinds: Sequence[str]) -> Mapping[tuple[object, ...], Note]:
    notes = (Note(*row) for row in rows.all(_OF_ENTRY, mcp_id=mcp_id, kinds=kinds))
    return {_content(note): note for note in notes}


def _content(note: Note) -> tuple[object, ...]:
    return note.kind, note.other, note.reason, note.body, note.body_id


def _row(mcp_id: str, note: Note) -> Mapping[str, object]:
    return {
        "mcp_id": mcp_id,
        "kind": note.kind,
        "other": note.other,
        "reason": note.reason,
        "since": note.since,
        "body": note.body,
        "body_id": note.body_id,
    }
