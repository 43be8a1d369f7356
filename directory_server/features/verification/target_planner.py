"""Planner: derives the remotes and packages that are checked from the change log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...domain.changes import Change
from ...domain.patterns import NamePatterns
from ...domain.ports.runtime import Offload
from ...runtime.follower import Followed, Follower
from ...serialization import restore_entry
from .tables import Verifications
from .targets import Target, targets_of


def target_planner(
    storage: Followed, verifications: Verifications, patterns: NamePatterns, offload: Offload, clock: Any
) -> Follower:
    """Return what derives the targets of the visible entries whose names `patterns` selects."""

    def targets(changes: Sequence[Change]) -> Mapping[str, Sequence[Target]]:
        entries = {change.mcp_id: restore_entry(change.body) if change.body else None for change in changes}
        return {
            mcp_id: targets_of(entry) if entry is not None and patterns.selects(entry.name) else ()
            for mcp_id, entry in entries.items()
        }

    async def apply(changes: Sequence[Change]) -> bool:
        await verifications.put_targets(await offload(targets, changes))
        return False

    async def version() -> str:
        return patterns.text

    return Follower(storage, clock, lambda: None, "targets of checks", apply, version=version)
