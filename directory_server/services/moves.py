"""Moves of entries to other names: the old name says where the entry is, and the new one has its versions."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime

from attrs import frozen

from ..domain.changes import Outcome
from ..domain.endings import Setter, new_ending, new_moves
from ..domain.entries import Entry, check_name, mcp_id_of
from ..domain.errors import BadInput
from ..domain.ports.storage import Store
from ..domain.visibility import Mark
from ..tables import StoredCuration, StoredEndings

CARRIED: Sequence[Mark] = ("pinned", "allowed")
"""Curation flags that the new name has too. An entry that is hidden does not move."""

MAX_MOVED = 200
"""Names that move with a namespace."""


@frozen
class Moves:
    """Moves entries. `now` returns seconds since the epoch.

    `publish` stores the versions that were published here under the new name, if no entry has it.
    """

    _endings: StoredEndings
    _store: Store
    _curation: StoredCuration
    _now: Callable[[], float]
    _publish: Callable[[Sequence[Entry]], Awaitable[Sequence[Outcome]]]

    async def plan(self, old: str, new: str) -> Mapping[str, str]:
        """Return the new names of the entries that move with a name or a namespace (`com.acme/*`). Raises BadInput."""
        names = await self._endings.names(old.removesuffix("/*"), MAX_MOVED + 1) if old.endswith("/*") else ()
        moves = new_moves(old, new, names)
        if not 0 < len(moves) <= MAX_MOVED:
            raise BadInput(f"name: the namespace must have 1 to {MAX_MOVED} entries.", code="move_name_wrong")
        for name in moves.values():
            check_name(name)
        return moves

    async def move(self, moves: Mapping[str, str], message: str, setter: Setter) -> None:
        """Move entries to new names. Raises BadInput and Forbidden; those before the one in the message have moved."""
        day = datetime.fromtimestamp(self._now(), UTC).date().isoformat()
        for old, new in moves.items():
            ending = new_ending(old, day, new, message, setter, "moved")
            is_known = await self._store.entry(mcp_id_of(new)) is not None
            versions = () if is_known else await self._store.published(old)
            if not (is_known or versions):
                raise BadInput(
                    f"new_name: no entry has the name {new[:200]!r}, and {old[:200]!r} was not published here. Add the "
                    "entry with the new name first.",
                    code="move_new_name_unknown",
                )
            flags, has = await self._curation.find(old), await self._curation.find(new)
            carried = [mark for mark in CARRIED if getattr(flags, mark) and not getattr(has, mark)]
            before = await self._endings.carried(old)
            # First, so that the new entry is never without it.
            await self._endings.put_former(ending, carried)
            copies = [Entry({**version.server, "name": new}, version.meta) for version in versions]
            if copies and "over_limit" in await self._publish(copies):
                raise BadInput("new_name: the limit of published entries is reached.", code="publish_limit")
            await self._mark(new, carried, is_on=True)
            await self._endings.put(ending)
            # The flags of one name hold for one other, however often its publisher moves it, and on.
            if before.new != new:
                await self._mark(before.new, before.given, is_on=False)
            await self._mark(old, [mark for mark in carried if mark in before.got], is_on=False)

    async def take_back(self, name: str, setter: Setter) -> None:
        """Remove the end of life of an entry, or take back its move, with the flags that the new entry got by that.

        Raises NotFound and Forbidden.
        """
        before = await self._endings.carried(name)
        await self._endings.remove(name, setter)
        await self._mark(before.new, before.given, is_on=False)

    async def _mark(self, name: str, marks: Sequence[str], *, is_on: bool) -> None:
        for mark in CARRIED:
            if mark in marks:
                await self._curation.mark(name, mark, is_on)
