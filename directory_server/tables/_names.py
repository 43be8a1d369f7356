"""Names in a transaction that changes them: their records, the rules that hide them, and the kinds of their flags."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import define, field, frozen

from ..domain.changes import Change
from ..domain.entries import mcp_id_of
from ..domain.ports.storage import Policy
from ..domain.versions import Record
from ..domain.visibility import Flags, Visibility
from ._tables import Rows

_DOCUMENTS = "SELECT record.id, record.body, stored_analysis FROM record WHERE record.id = ANY(:ids)"

_CHECKED = """
    SELECT verification.mcp_id, indexed, package_texts.body
    FROM verification LEFT JOIN package_texts ON package_texts.id = verification.texts
    WHERE verification.mcp_id = ANY(:mcp_ids)
"""

_ACCEPTED = "SELECT mcp_id, accepted FROM accepted_marks WHERE mcp_id = ANY(:mcp_ids)"


def hiding_rules(rows: Rows, policy: Policy, records: Mapping[str, int]) -> Mapping[str, str]:
    """Return the rule that hides each of `records`, ids of stored rows by the mcp_id of the entry; empty if none does.

    They are compared with all that is stored of them: documents, checks, flags and accepted marks.
    """
    mcp_ids: Sequence[str] = list(records)
    if not mcp_ids:
        return {}
    documents, checked, accepted = rows.together(
        (_DOCUMENTS, {"ids": list(records.values()), "analysis": policy.analysis}),
        (_CHECKED, {"mcp_ids": mcp_ids}),
        (_ACCEPTED, {"mcp_ids": mcp_ids}),
    )
    bodies = {row: (body, analysed) for row, body, analysed in documents}
    checks = {mcp_id: (indexed, texts) for mcp_id, indexed, texts in checked}
    marks, flags = dict(accepted), flag_kinds(rows, mcp_ids)
    rules = {}
    for mcp_id, row in records.items():
        body, analysed = bodies[row]
        verified, texts = checks.get(mcp_id, (None, None))
        rules[mcp_id] = policy(
            Change(
                seq=0,
                kind="changed",
                mcp_id=mcp_id,
                body=body,
                analysed=analysed,
                verified=verified,
                texts=texts,
                flags=flags.get(mcp_id, ()),
                accepted=marks.get(mcp_id, ""),
            )
        )
    return rules


_KINDS = "SELECT mcp_id, kind FROM entry_flag WHERE mcp_id = ANY(:mcp_ids) ORDER BY kind"


def flag_kinds(rows: Rows, mcp_ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the kinds of the flags of those of `mcp_ids` that have any."""
    kinds: dict[str, tuple[str, ...]] = {}
    for mcp_id, kind in rows.all(_KINDS, mcp_ids=list(mcp_ids)):
        kinds[mcp_id] = (*dict.fromkeys((*kinds.get(mcp_id, ()), kind)),)
    return kinds


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
        """Return the records of `source`."""
        return [stored for stored in self.records.values() if stored.record.source == source]
