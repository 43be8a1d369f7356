"""Approved documents: an entry is on a list that holds versions only while its document is the approved one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..serialization import document_digest, restore_entry
from ._tables import Rows

APPROVED = """
    SELECT name, list, digest FROM list_approval
    WHERE list IN (SELECT name FROM entry_list WHERE holds_versions) AND name = ANY(:names)
"""
"""The digests of the approved documents of names, of lists that hold versions."""

LEAVE = """
    UPDATE list_entry SET left_at = input.seq FROM input(seq bigint, mcp_id text, list text)
    WHERE list_entry.mcp_id = input.mcp_id AND list_entry.list = input.list AND left_at IS NULL
"""

_PREFERRED = "SELECT name, preferred_id FROM entry WHERE name = ANY(:names) AND preferred_id IS NOT NULL"

_BODIES = "SELECT id, body FROM record WHERE id = ANY(:ids)"

Approved = Mapping[str, Mapping[str, str]]
"""Digests of approved documents by the name of the entry and the list."""


def approved_of(rows: Sequence[tuple[str, str, str]]) -> Approved:
    """Return the results of APPROVED by the name of the entry and the list."""
    approved: dict[str, dict[str, str]] = {}
    for name, list_name, digest in rows:
        approved.setdefault(name, {})[list_name] = digest
    return approved


def holding_lists(rows: Rows, approved: Approved, records: Mapping[str, int]) -> Mapping[str, Sequence[str]]:
    """Return the lists in `approved` on which the document of an entry waits, by its name.

    `records` are the ids of the stored records that represent the names.
    """
    wanted = {name: row for name, row in records.items() if name in approved}
    if not wanted:
        return {}
    bodies = dict(rows.all(_BODIES, ids=list(wanted.values())))
    digests = {name: document_digest(restore_entry(bodies[row])) for name, row in wanted.items()}
    return {
        name: [list_name for list_name, digest in approved[name].items() if digest != digests[name]] for name in wanted
    }


def held_documents(rows: Rows, names: Sequence[str]) -> Mapping[str, Sequence[str]]:
    """Return the lists on which the document of each of `names` waits. The transaction holds the lock of publishers."""
    approved = approved_of(rows.all(APPROVED, names=names))
    return holding_lists(rows, approved, dict(rows.all(_PREFERRED, names=list(approved)))) if approved else {}
