"""The Mirrors in memory."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from attrs import frozen

from ..domain.ports.storage import UNSEEN_BYTES
from ..domain.upstreams import MAX_RUNS, FinishedRun, Lease, UpstreamState, may_hold
from ._catalogue import Catalogue


@frozen
class MemoryMirrors:
    """States and leases of upstreams; `now` returns seconds since the epoch."""

    _data: Catalogue
    _now: Callable[[], float]

    async def all(self) -> Sequence[UpstreamState]:
        return [state for _, state in sorted(self._data.upstreams.items())]

    async def get(self, name: str) -> UpstreamState:
        return self._data.upstreams.get(name) or UpstreamState(name)

    async def put(
        self, state: UpstreamState, *, seen: Mapping[str, bool] | None = None, run: FinishedRun | None = None
    ) -> None:
        self._data.upstreams[state.name] = state
        self._data.seen.setdefault(state.name, {}).update(seen or {})
        if run is not None:
            self._data.runs[state.name] = [run, *await self.runs(state.name)][:MAX_RUNS]

    async def runs(self, name: str) -> Sequence[FinishedRun]:
        return self._data.runs.get(name, [])

    async def forget_seen(self, name: str) -> None:
        self._data.seen.pop(name, None)

    async def count_seen(self, name: str) -> int:
        return len(self._data.seen.get(name, {}))

    async def unseen(self, name: str, limit: int) -> Sequence[bytes]:
        bodies: list[bytes] = []
        seen, size = self._data.seen.get(name, {}), 0
        for each in self._data.of_source(name):
            if not each.record.deleted and not seen.get(each.name):
                bodies.append(each.body)
                size += len(each.body)
                if len(bodies) == limit or size >= UNSEEN_BYTES:
                    break
        return bodies

    async def versions(self, name: str, names: Collection[str]) -> Mapping[tuple[str, str], bool]:
        stored = (each for of in names for each in self._data.of_name(of) if each.record.source == name)
        return {(each.name, each.record.version): each.record.latest for each in stored}

    async def entries(self, name: str) -> int:
        return len({each.name for each in self._data.of_source(name) if not each.record.deleted})

    async def hold(self, name: str, holder: str, *, seconds: float) -> bool:
        now = self._now()
        if not may_hold(self._data.leases.get(name), holder, now, seconds):
            return False
        self._data.leases[name] = Lease(holder, now + seconds)
        return True

    async def release(self, name: str, holder: str) -> None:
        lease = self._data.leases.get(name)
        if lease and lease.holder == holder:
            del self._data.leases[name]
