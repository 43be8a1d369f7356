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

_PREFERRED = "SELECT name, preferred_id FROM entry WHERE mcp_id = ANY(:mcp_ids) AND preferred_id IS NOT NULL"

_BODIES = "SELECT id, body FROM record WHERE id = ANY(:ids)"

Digest = tuple[str, str, str]
"""The name of an entry, a list, and the digest of the document that it has approved, or that waits."""


def waiting_documents(rows: Rows, approved: Sequence[Digest], records: Mapping[str, int]) -> Sequence[Digest]:
    """Return the documents that wait: those that differ from the `approved` ones.

    `records` are the ids of the stored records that represent the names.
    """
    wanted = {name: records[name] for name, _, _ in approved if name in records}
    bodies = dict(rows.all(_BODIES, ids=list(wanted.values()))) if wanted else {}
    digests = {name: document_digest(restore_entry(bodies[row])) for name, row in wanted.items()}
    return [
        (name, list_name, digests[name]) for name, list_name, digest in approved if digests.get(name, digest) != digest
    ]


def held_documents(rows: Rows, mcp_ids: Sequence[str]) -> Sequence[Digest]:
    """Return the documents of entries that wait. The transaction holds the lock of publishers."""
    records = dict(rows.all(_PREFERRED, mcp_ids=mcp_ids))
    return waiting_documents(rows, rows.all(APPROVED, names=list(records)), records)
