"""Planner: derives the remotes and packages that are checked from the change log."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from attrs import field, frozen

from ...domain.changes import Change
from ...domain.entries import Entry
from ...domain.patterns import NamePatterns
from ...domain.ports.runtime import Offload
from ...domain.ports.storage import Store
from .tables import Plan, Verifications
from .targets import Target, targets_of

BATCH, BATCH_BYTES = 500, 4_000_000
"""Changes, and about the bytes of entries, of which targets are derived at a time."""

LEASE = 120.0
"""Seconds for which a process may derive targets without renewing its lease."""


@frozen
class TargetPlanner:
    """Derives targets of the visible entries whose names `patterns` selects, in one process at a time.

    `holder` identifies the process. `decode` returns the entry in the body of a change, in a thread of
    `offload`.
    """

    _store: Store
    _verifications: Verifications
    _decode: Callable[[bytes], Entry]
    _offload: Offload
    _holder: str
    _patterns: NamePatterns = field(factory=NamePatterns)

    async def update(self) -> bool:
        """Derive the targets of new changes; return False if another process does. Raises Unavailable."""
        plan, selection = await self._verifications.plan(), self._patterns.text
        if plan.selection != selection:
            plan = Plan(0, selection)
        elif plan.seq == await self._store.head():
            return True
        while await self._verifications.hold(self._holder, seconds=LEASE):
            changes = await self._store.changes(plan.seq, BATCH, BATCH_BYTES, ruled=True)
            if not changes:
                return True
            targets = await self._offload(self._targets, changes)
            plan = Plan(changes[-1].seq, selection)
            await self._verifications.put_targets(targets, plan)
        return False

    def _targets(self, changes: Sequence[Change]) -> Mapping[str, Sequence[Target]]:
        """Return the targets of the entries of `changes` by their ids; none of those that were removed."""
        return {change.mcp_id: self._targets_of(change) for change in changes}

    def _targets_of(self, change: Change) -> Sequence[Target]:
        if change.body is None:
            return ()
        entry = self._decode(change.body)
        return targets_of(entry) if self._patterns.selects(entry.name) else ()
