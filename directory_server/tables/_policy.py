"""The rules of the operator that hide entries: which of them hides a name, in the transaction that changes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..domain.changes import Change
from ..domain.ports.storage import Policy
from ._flag_kinds import flag_kinds
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
    found = {}
    for mcp_id, row in records.items():
        body, analysed = bodies[row]
        verified, texts = checks.get(mcp_id, (None, None))
        found[mcp_id] = policy(
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
    return found
