"""The kinds of the flags of entries."""

from __future__ import annotations

from collections.abc import Sequence

from ._tables import Rows

_KINDS = "SELECT mcp_id, kind FROM entry_flag WHERE mcp_id = ANY(:mcp_ids) ORDER BY kind"


def flag_kinds(rows: Rows, mcp_ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the kinds of the flags of those of `mcp_ids` that have any."""
    found: dict[str, tuple[str, ...]] = {}
    for mcp_id, kind in rows.all(_KINDS, mcp_ids=list(mcp_ids)):
        found[mcp_id] = (*dict.fromkeys((*found.get(mcp_id, ()), kind)),)
    return found
