"""Names in a transaction that changes them: their records, the rules that hide them, and their notes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from attrs import define, field, frozen

from ..domain.changes import Change
from ..domain.entries import mcp_id_of
from ..domain.notes import Note
from ..domain.ports.storage import Policy
from ..domain.versions import Record
from ..domain.visibility import Flags, Visibility
from ._tables import Row, Rows

_DOCUMENTS = "SELECT record.id, record.body, stored_analysis FROM record WHERE record.id = ANY(:ids)"

_NOTES = """
    SELECT note.mcp_id, kind, reason, since, other, coalesce(note.body, note_body.body), body_id
    FROM note LEFT JOIN note_body ON note_body.id = note.body_id
    WHERE note.mcp_id = ANY(:mcp_ids) ORDER BY note.mcp_id, kind, other
"""


def hiding_rules(rows: Rows, policy: Policy, records: Mapping[str, int]) -> Mapping[str, str]:
    """Return the rule that hides each of `records`, ids of stored rows by the mcp_id of the entry; empty if none does.

    They are compared with all that is stored of them: documents and notes.
    """
    mcp_ids: Sequence[str] = list(records)
    if not mcp_ids:
        return {}
    documents, listed = rows.together(
        (_DOCUMENTS, {"ids": list(records.values()), "analysis": policy.analysis}),
        (_NOTES, {"mcp_ids": mcp_ids}),
    )
    bodies = {row: (body, analysed) for row, body, analysed in documents}
    notes, rules = _by_entry(listed), {}
    for mcp_id, row in records.items():
        body, analysed = bodies[row]
        rules[mcp_id] = policy(
            Change(
                seq=0,
                kind="changed",
                mcp_id=mcp_id,
                body=body,
                analysed=analysed,
                notes=notes.get(mcp_id, ()),
            )
        )
    return rules


def notes_of(rows: Rows, mcp_ids: Sequence[str]) -> Mapping[str, tuple[Note, ...]]:
    """Return the notes of those of the entries `mcp_ids` that have any, with their bodies."""
    return _by_entry(rows.all(_NOTES, mcp_ids=list(mcp_ids)))


def _by_entry(listed: Iterable[Row]) -> Mapping[str, tuple[Note, ...]]:
    notes: dict[str, tuple[Note, ...]] = {}
    for mcp_id, *fields in listed:
        notes[mcp_id] = (*notes.get(mcp_id, ()), Note(*fields))
    return notes


@frozen
class StoredRecord:
    """A record, with the id of its row and the bytes of its document. `record.id` is the order of writing."""

    row: int
    size: int
    record: Record


@define
class StoredName:
    """A name with its records by source and version, as they are now, and its visibility `before` the transaction.

    `before` has ids of rows. `seq` is the latest change, 0 if there is none. `is_deprecated` is whether the visible
    entry becomes deprecated, None if that is not known; see `find_deprecated`.
    """

    name: str
    before: Visibility = field(factory=Visibility)
    seq: int = 0
    flags: Flags = field(factory=Flags)
    records: dict[tuple[str, str], StoredRecord] = field(factory=dict)
    is_deprecated: bool | None = None

    @property
    def mcp_id(self) -> str:
        return mcp_id_of(self.name)

    def of_source(self, source: str) -> list[StoredRecord]:
        return [stored for stored in self.records.values() if stored.record.source == source]
