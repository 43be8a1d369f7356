"""Flags of entries, which the change log has too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..domain.flags import EntryFlag
from ._tables import Rows
from ._visibility import PUBLISHERS, log_change

_OF_KIND = """
    SELECT entry_flag.mcp_id, reason, since, other, coalesce(name, '')
    FROM entry_flag LEFT JOIN entry ON entry.mcp_id = entry_flag.mcp_id
    WHERE kind = :kind ORDER BY entry_flag.mcp_id, other
"""

_OF_ENTRY = "SELECT other, reason, since FROM entry_flag WHERE mcp_id = :mcp_id AND kind = :kind ORDER BY other"

_CLEAR = "DELETE FROM entry_flag WHERE mcp_id = :mcp_id AND kind = :kind"

_ADD = """
    INSERT INTO entry_flag (mcp_id, kind, other, reason, since)
    VALUES (:mcp_id, :kind, :other, :reason, :since)
"""


def flags_of_kind(rows: Rows, kind: str) -> dict[str, list[EntryFlag]]:
    """Return all flags of `kind` by the mcp_id of their entries."""
    flags: dict[str, list[EntryFlag]] = {}
    for mcp_id, *fields in rows.all(_OF_KIND, kind=kind):
        flags.setdefault(mcp_id, []).append(EntryFlag(kind, *fields))
    return flags


def put_flags(rows: Rows, kind: str, flags: Mapping[str, Sequence[EntryFlag]]) -> int:
    """Replace the flags of `kind` of the entries whose mcp_id is in `flags`; return the number of changed entries.

    A flag that was stored with the same reason keeps its time. Entries that get their first flag of the kind, or lose
    the last one, are logged as changed, if they are visible.
    """
    rows.lock(PUBLISHERS)
    changed = 0
    for mcp_id, wanted in sorted(flags.items()):
        stored = {(other, reason): since for other, reason, since in rows.all(_OF_ENTRY, mcp_id=mcp_id, kind=kind)}
        if {(flag.other, flag.reason) for flag in wanted} == set(stored):
            continue
        changed += 1
        rows.execute(_CLEAR, mcp_id=mcp_id, kind=kind)
        for flag in {flag.other: flag for flag in wanted}.values():
            since = stored.get((flag.other, flag.reason), flag.since)
            rows.execute(_ADD, mcp_id=mcp_id, kind=kind, other=flag.other, reason=flag.reason, since=since)
        if bool(stored) is not bool(wanted):
            log_change(rows, mcp_id)
    return changed
