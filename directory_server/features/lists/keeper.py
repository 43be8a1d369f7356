"""Keeper: stores which entries are in which list, after the change log, in one process at a time."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence

from attrs import frozen

from ...domain.changes import Change
from ...domain.entries import mcp_id_of
from ...domain.ports.runtime import Offload
from ...domain.ports.search import Matching
from ...domain.ports.storage import Store
from ...timers import Lease
from .request_tables import ListRequests
from .requests import ListRequest
from .rules import EntryList
from .tables import Differences, Lists

INTERVAL = 1.0
"""Seconds between two looks for new changes and changed lists."""

LEASE, LEASE_NAME = 60.0, "entries of lists"
"""Seconds for which a process may write without renewing its lease, and the name of the lease."""

BATCH, BATCH_BYTES = 500, 2_000_000
"""Changes, and about the bytes of entries, that are matched at a time."""


@frozen
class Keeper:
    """Writes the entries of lists, in the process that holds `lease`. `announce` tells other processes of changes.

    Documents of approved entries that wait for an approver become `requests`, which `tell` announces. `now` returns
    seconds since the epoch.
    """

    _lists: Lists
    _store: Store
    _lease: Lease
    _matching: Matching
    _offload: Offload
    _announce: Callable[[], None]
    _requests: ListRequests
    _tell: Callable[[Sequence[ListRequest]], Awaitable[None]]
    _now: Callable[[], float]

    async def update(self) -> None:
        """Write what is new since the last update, unless another process does. Raises Unavailable."""
        lists, head = await self._selected(), await self._store.head()
        leftovers = await self._lists.leftovers()
        if all(entry_list.seq == head for entry_list in lists) and not leftovers:
            return
        if not await self._lease.hold():
            return
        while leftovers:
            await self._write({mcp_id: ((), names) for mcp_id, names in leftovers.items()})
            leftovers = await self._lists.leftovers()
        # A list whose position is after the log was read before a backup was restored.
        if new := [entry_list for entry_list in lists if not 0 <= entry_list.seq <= head]:
            await self._find_all(new, head)
        await self._follow()

    async def _find_all(self, lists: Sequence[EntryList], head: int) -> None:
        """Find the entries of new and changed lists among all entries."""
        names, after = [entry_list.name for entry_list in lists], ""
        while page := await self._store.current(after, BATCH, BATCH_BYTES):
            await self._match(page, names)
            after = page[-1].mcp_id
            if not await self._lease.hold():
                return
        await self._lists.complete(lists, head)

    async def _follow(self) -> None:
        """Match the changes after the position of the list that is furthest behind."""
        lists = [entry_list for entry_list in await self._selected() if entry_list.seq >= 0]
        names = [entry_list.name for entry_list in lists]
        seq = min((entry_list.seq for entry_list in lists), default=0)
        while names and (changes := await self._store.changes(seq, BATCH, BATCH_BYTES)):
            await self._match(changes, names)
            seq = changes[-1].seq
            await self._lists.advance(names, seq)
            if not await self._lease.hold():
                return

    async def _match(self, changes: Sequence[Change], names: Collection[str]) -> None:
        """Write the lists among `names` that entries join or leave."""
        # Read after the changes, so that an entry which was picked meanwhile is not taken out again.
        lists = [entry_list for entry_list in await self._selected() if entry_list.name in names]
        picks = await self._lists.picks([entry_list.name for entry_list in lists])
        await self._write(await self._offload(differences, changes, lists, picks, self._matching))
        if any(entry_list.holds_versions for entry_list in lists):
            visible = [change.mcp_id for change in changes if change.body is not None]
            if waiting := await self._requests.wait(visible, self._now()):
                self._announce()
                await self._tell(waiting)

    async def _write(self, found: Differences) -> None:
        if found and await self._lists.write(found):
            self._announce()

    async def _selected(self) -> Sequence[EntryList]:
        return [entry_list for entry_list in await self._lists.all() if not entry_list.is_all]


def differences(
    changes: Sequence[Change],
    lists: Sequence[EntryList],
    picks: Mapping[str, Collection[str]],
    matching: Matching,
) -> Differences:
    """Return the lists that the entries of `changes` join and leave, by mcp_id.

    A removed entry stays in its lists, so that their readers learn of the removal.
    """
    names = {entry_list.name for entry_list in lists}
    rules = {entry_list.rule for entry_list in lists if entry_list.rule}
    chosen = {entry_list.name: set(map(mcp_id_of, picks.get(entry_list.name, ()))) for entry_list in lists}
    found: dict[str, tuple[Sequence[str], Sequence[str]]] = {}
    for change in changes:
        if change.body is None:
            continue
        matched = matching(change, rules)
        wanted = {
            entry_list.name
            for entry_list in lists
            if entry_list.rule in matched or change.mcp_id in chosen[entry_list.name]
        }
        present = names.intersection(change.lists)
        if wanted != present:
            found[change.mcp_id] = sorted(wanted - present), sorted(present - wanted)
        else:
            found.pop(change.mcp_id, None)
    return found
