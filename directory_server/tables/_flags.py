"""Flags of entries, which the change log has too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..domain.flags import EntryFlag
from ._locking import PUBLISHERS
from ._tables import Rows
from ._visibility import log_change

_OF_KINDS = """
    SELECT entry_flag.mcp_id, kind, reason, since, other, coalesce(name, '')
    FROM entry_flag LEFT JOIN entry ON entry.mcp_id = entry_flag.mcp_id
    WHERE kind = ANY(:kinds) ORDER BY entry_flag.mcp_id, other
"""

_OF_ENTRY = "SELECT kind, other, reason, since FROM entry_flag WHERE mcp_id = :mcp_id AND kind = ANY(:kinds)"

_CLEAR = "DELETE FROM entry_flag WHERE mcp_id = :mcp_id AND kind = ANY(:kinds)"

_ADD = """
    INSERT INTO entry_flag (mcp_id, kind, other, reason, since)
    VALUES (:mcp_id, :kind, :other, :reason, :since)
"""


def flags_of_kinds(rows: Rows, kinds: Sequence[str]) -> dict[str, list[EntryFlag]]:
    """Return all flags of `kinds` by the mcp_id of their entries."""
    flags: dict[str, list[EntryFlag]] = {}
    for mcp_id, *fields in rows.all(_OF_KINDS, kinds=kinds):
        flags.setdefault(mcp_id, []).append(EntryFlag(*fields))
    return flags


def put_flags(rows: Rows, kinds: Sequence[str], flags: Mapping[str, Sequence[EntryFlag]]) -> int:
    """Replace the flags of `kinds` of the entries whose mcp_id is in `flags`; return the number of changed entries.

    A flag that was stored with the same reason keeps its time. Entries that get their first flag of a kind, or lose
    the last one, are logged as changed, if they are visible.
    """
    rows.lock(PUBLISHERS)
    changed = 0
    for mcp_id, wanted in sorted(flags.items()):
        stored = {tuple(key): since for *key, since in rows.all(_OF_ENTRY, mcp_id=mcp_id, kinds=kinds)}
        new = {(flag.kind, flag.other, flag.reason): flag for flag in wanted}
        if new.keys() == stored.keys():
            continue
        changed += 1
        rows.execute(_CLEAR, mcp_id=mcp_id, kinds=kinds)
        for (kind, other, reason), flag in new.items():
            since = stored.get((kind, other, reason), flag.since)
            rows.execute(_ADD, mcp_id=mcp_id, kind=kind, other=other, reason=reason, since=since)
        if {kind for kind, *_ in stored} != {kind for kind, *_ in new}:
            log_change(rows, mcp_id, "judgement")
    return changed
