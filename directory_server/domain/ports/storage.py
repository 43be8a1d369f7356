"""Ports of storage: entries, curation flags, upstream state."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, TypeVar

from ..changes import Change, Outcome
from ..curation import CuratedName, Mark
from ..entries import Entry
from ..upstreams import UpstreamState
from ..versions import Version

T = TypeVar("T")


READ_BYTES = 8_000_000
"""Bytes of entries that one call of a Store reads, about, unless it is given another number."""


class Store(Protocol):
    """Entries by source, name and version, and the ordered log of changes to what is shown of them."""

    async def publish(self, source: str, entries: Sequence[Entry]) -> Sequence[Outcome]:
        """Keep `entries` and log what that changes, once for each name; return an outcome for each entry, in order.

        They are written in one transaction, or in several where that takes longer than about half a second, so that
        other writers get their turn. Raises Unavailable where a transaction cannot be written; nothing of that one
        stays, the ones before it do, and publishing the same entries again completes them.
        """

    async def entry(self, mcp_id: str) -> Entry | None:
        """Return the entry shown for `mcp_id`, or None."""

    async def head(self) -> int:
        """Return the `seq` of the latest change, 0 before the first."""

    async def log_id(self) -> str:
        """Return the random id of the change log, 12 hexadecimal digits; a restored backup is given another."""

    async def current(self, after: str, limit: int, most: int = READ_BYTES) -> Sequence[Change]:
        """Return at most `limit` of the entries shown now, in the order of their ids, beginning behind `after`.

        Each comes as the change that last touched it, so that what follows the log can start from here. Reading stops
        behind the entry that brings the bytes of all to `most`: only an empty answer means that there are no more.
        """

    async def changes(self, after: int, limit: int, most: int = READ_BYTES) -> Sequence[Change]:
        """Return at most `limit` changes with a `seq` above `after`, in order, each with the entry shown now.

        Reading stops behind the change that brings the bytes of all to `most`: only an empty answer means that there
        are no more. What `changes` and `current` give is analysed by the store's own Analysis, whoever published it.
        """

    async def oldest(self) -> int:
        """Return the `seq` of the oldest change that the log still has, 0 before the first."""

    async def newest(self, limit: int, of: Callable[[Entry], T]) -> Sequence[T]:
        """Return what `of` makes of each of the `limit` entries shown that were added last, the latest first.

        It holds one entry at a time. `of` may be called in another thread.
        """

    async def count(self) -> int:
        """Return the number of entries shown."""

    async def listing(
        self,
        after: tuple[str, str],
        limit: int,
        *,
        versions: str = "latest",
        updated_since: float | None = None,
        include_deleted: bool = False,
        curated: bool = False,
        most: int = READ_BYTES,
    ) -> Sequence[Version]:
        """Return at most `limit` versions in the order of names, beginning behind the name and version `after`.

        Reading stops behind the version that brings the bytes of all bodies to `most`: fewer than `limit` versions
        with fewer bytes are the last ones.
        `versions` is "latest" for one of each name, "all", in the order of their texts within a name, or an exact
        version. `updated_since` leaves out what last changed here before it (seconds since the epoch), `curated` all
        names that the operator does not stand by. A name's versions are those of the source that is shown for it;
        hidden names have none.
        """

    async def versions(self, name: str, after: str = "", limit: int = 1_000, most: int = READ_BYTES) -> list[Version]:
        """Return versions of `name`, the latest first, others by age, behind the version `after`; `most` as above."""

    async def latest(self, mcp_ids: Sequence[str], most: int = READ_BYTES) -> Sequence[Version]:
        """Return the latest versions of those of `mcp_ids` that are shown, in their order.

        Reading stops behind the version that brings the bytes of all bodies to `most`.
        """

    async def version(self, name: str, version: str) -> Version | None:
        """Return the `version` of `name`, deleted or not, "latest" for the latest; None where there is none."""


class Curation(Protocol):
    """What the operator says about names; it holds whatever the sources publish, before they do and after."""

    async def mark(self, name: str, mark: Mark, on: bool) -> bool:
        """Put `mark` on `name`, or take it off; return whether that made a difference.

        Hidden names are shown nowhere, pinned ones come first among the hits of the searches that find them.
        """

    async def disown(self, name: str) -> bool:
        """Forget the operator's own entry of `name`; return whether there was one. A source's is shown again."""

    async def curated(self) -> Sequence[CuratedName]:
        """Return the names that the operator has marked or has an entry of his own for, in order."""


class Mirrors(Protocol):
    """What is remembered of upstreams from round to round, and who of all processes may begin one."""

    async def all(self) -> Sequence[UpstreamState]:
        """Return all upstreams that have ever been followed, by name."""

    async def get(self, name: str) -> UpstreamState:
        """Return the upstream `name`, which is a new one if it has never been followed."""

    async def put(self, mirrored: UpstreamState, *, seen: Mapping[str, bool] | None = None) -> None:
        """Keep it, and with it names that its walk has `seen`, and whether they are taken."""

    async def forget_seen(self, name: str) -> None:
        """Forget the names that earlier walks of the upstream `name` have seen."""

    async def count_seen(self, name: str) -> int:
        """Return how many names the walk has seen, taken or not."""

    async def unseen(self, name: str, limit: int) -> Sequence[bytes]:
        """Return at most `limit` of the upstream's entries, encoded, not deleted, that were not seen or not taken.

        There are fewer where they are large, but one at least if there is any.
        """

    async def entries(self, name: str) -> int:
        """Return how many names the upstream has of which not all versions are deleted."""

    async def hold(self, name: str, holder: str, *, now: float, until: float) -> bool:
        """Take the upstream's lease, or keep it, for `holder`; return False if somebody else has it `now`.

        A lease that ends more than twice as far ahead as this one is void: it was written by a clock that was wrong.
        """

    async def release(self, name: str, holder: str) -> None:
        """Give the lease back, if it is still the holder's."""
