"""The Verifications in memory."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from attrs import define, field, frozen

from .. import serialization
from ..domain.entries import mcp_id_of
from ..domain.ports.verification import Plan, Summary
from ..domain.targets import Check, Policy, Target, TargetKind, TargetState
from ..domain.upstreams import Lease, may_hold
from ..domain.verified import indexed, summarize
from ._catalogue import Catalogue


@define
class StoredTarget:
    """The state of a target, when it is due in seconds since the epoch, and its lease."""

    state: TargetState
    due_at: float
    lease: Lease | None = None

    @property
    def is_known(self) -> bool:
        """Whether the target was checked."""
        return self.state.check is not None


@define(eq=False)
class TargetData:
    """Targets by the ids of their entries, summaries by the same ids, and the plan."""

    targets: dict[str, dict[str, StoredTarget]] = field(factory=dict)
    summaries: dict[str, Summary] = field(factory=dict)
    plan: Plan = field(factory=Plan)
    lease: Lease | None = None
    revision: int = 0

    def all(self) -> list[StoredTarget]:
        """Return all targets."""
        return [each for found in self.targets.values() for each in found.values()]


@frozen
class MemoryVerifications:
    """Targets and their states; `now` returns seconds since the epoch. Those with the same data act as processes."""

    _catalogue: Catalogue
    _data: TargetData
    _now: Callable[[], float]

    async def plan(self) -> Plan:
        return self._data.plan

    async def hold(self, holder: str, *, seconds: float) -> bool:
        now = self._now()
        if not may_hold(self._data.lease, holder, now, seconds):
            return False
        self._data.lease = Lease(holder, now + seconds)
        return True

    async def put_targets(self, targets: Mapping[str, Sequence[Target]], plan: Plan | None = None) -> None:
        for mcp_id, wanted in targets.items():
            stored = self._data.targets.get(mcp_id, {})
            kept = {each.id: stored.get(each.id) or StoredTarget(TargetState(each), self._now()) for each in wanted}
            self._data.targets[mcp_id] = kept
            gone = [each for number, each in stored.items() if number not in kept and each.is_known]
            if gone:
                self._summarize(gone[0].state.target.name)
        self._data.plan = plan or self._data.plan

    async def claim(
        self, holder: str, limit: int, *, seconds: float, kinds: Collection[TargetKind], except_hosts: Collection[str]
    ) -> Sequence[Target]:
        now, chosen = self._now(), dict[str, StoredTarget]()
        for each in sorted(self._data.all(), key=lambda stored: stored.due_at):
            target = each.state.target
            is_free = (
                target.kind in kinds and target.host not in except_hosts and may_hold(each.lease, "", now, seconds)
            )
            if each.due_at <= now and is_free and len(chosen) < limit:
                chosen.setdefault(target.host, each)
        for each in chosen.values():
            each.lease = Lease(holder, now + seconds)
        return [each.state.target for each in chosen.values()]

    async def record(self, target: Target, check: Check, policy: Policy, *, spread: float = 1.0) -> bool:
        stored = self._data.targets.get(mcp_id_of(target.name), {}).get(target.id)
        if stored is None:
            return False
        state = stored.state.after(check, policy)
        # The stored form is bounded.
        stored.state = serialization.restore_state(target, serialization.encode_state(state))
        stored.due_at = self._now() + spread * policy.wait(state, check)
        stored.lease = None
        return self._summarize(target.name)

    async def release(self, holder: str) -> None:
        for each in self._data.all():
            if each.lease is not None and each.lease.holder == holder:
                each.lease = None
        if self._data.lease is not None and self._data.lease.holder == holder:
            self._data.lease = None

    async def states(self, mcp_id: str) -> Sequence[TargetState]:
        return self._states(mcp_id)

    async def forget(self, names: Collection[str] | None = None) -> int:
        forgotten = set()
        for each in self._data.all():
            target = each.state.target
            if each.is_known and (names is None or target.name in names):
                forgotten.add(target.name)
                each.state, each.due_at = TargetState(target), self._now()
        for name in sorted(forgotten):
            self._summarize(name)
        return len(forgotten)

    async def due(self, kinds: Collection[TargetKind]) -> int:
        return sum(each.due_at <= self._now() and each.state.target.kind in kinds for each in self._data.all())

    async def summaries(self, after: int, limit: int) -> Sequence[Summary]:
        found = (each for each in self._data.summaries.values() if each.revision > after)
        return sorted(found, key=lambda each: each.revision)[:limit]

    def _states(self, mcp_id: str) -> list[TargetState]:
        stored = self._data.targets.get(mcp_id, {}).items()
        by_kind = sorted(stored, key=lambda item: (item[1].state.target.kind is not TargetKind.REMOTE, item[0]))
        return [each.state for _, each in by_kind]

    def _summarize(self, name: str) -> bool:
        """Store the verification of an entry; log a change and return True if its indexed part has changed."""
        mcp_id, verified = mcp_id_of(name), self._catalogue.verified
        states = self._states(mcp_id)
        self._data.revision += 1
        self._data.summaries[mcp_id] = Summary(self._data.revision, mcp_id, summarize(states))
        before, after = verified.pop(name, None), indexed(states)
        if after is not None:
            verified[name] = serialization.encode_verification(after)
        if before == verified.get(name):
            return False
        self._catalogue.log_change(name)
        return True
