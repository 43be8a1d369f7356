"""Ports of storage: entries, curation flags, upstream state."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, TypeVar

from ..changes import Change, Outcome
from ..entries import Entry
from ..scopes import Scope
from ..versions import LATEST, Version, VersionFilter

T = TypeVar("T")


READ_BYTES = 8_000_000
"""Default for the approximate number of bytes that one call of a Store reads."""


class Policy(Protocol):
    """Rules of the operator. `analysis` is the version of the Analysis whose results it reads."""

    @property
    def analysis(self) -> str: ...

    def __call__(self, change: Change) -> str:
        """Return the name of the rule that hides the entry of `change`, empty if none does.

        The change may lack its analysis, and is in no log.
        """


class Store(Protocol):
    """Entries by source, name and version, and the ordered log of changes of the visible entries.

    Entries have passed `serialization.decode_entry`. Names, versions and ids with NUL or lone surrogates, which some
    databases cannot hold, are in no entry: reads find nothing by them.
    """

    async def publish(self, source: str, entries: Sequence[Entry], *, new: bool = False) -> Sequence[Outcome]:
        """Store `entries` and log the resulting changes, at most one per name; return the outcomes in order.

        With `new`, a stored version is neither replaced nor dropped: see `domain.publishing.rejection`. Of two
        processes that publish a version at the same time, one stores it.

        `domain.publishing` decides what is stored of a name and a source, `domain.visibility` what is visible of it.

        A call that takes longer than about half a second uses several transactions, so that other writers are not
        blocked. Raises Unavailable if a transaction fails. Earlier transactions of the call stay committed; publishing
        the same entries again completes the rest.
        """

    def within(self, scope: Scope) -> Store:
        """Return this store as readers of `scope` see it: reads find only entries of its lists. Writes are the same.

        `head`, `oldest` and `log_id` are those of the whole log.
        """

    async def entry(self, mcp_id: str) -> Entry | None:
        """Return the visible entry with this id, or None."""

    async def entries(self, mcp_ids: Sequence[str]) -> Sequence[Entry]:
        """Return the visible entries among `mcp_ids`, in that order."""

    async def ids(self, after: str, before: str, limit: int) -> Sequence[str]:
        """Return at most `limit` ids of visible entries between `after` and `before`, both excluded, in order."""

    async def head(self) -> int:
        """Return the `seq` of the latest change, 0 before the first."""

    async def has_changes(self, after: int) -> bool:
        """Return whether there is a change with a `seq` above `after`."""

    async def log_id(self) -> str:
        """Return the random id of the change log, 12 hexadecimal digits; it changes when a backup is restored."""

    async def current(self, after: str, limit: int, most: int = READ_BYTES, *, ruled: bool = False) -> Sequence[Change]:
        """Return at most `limit` visible entries, ordered by id, with ids greater than `after`.

        With `ruled`, entries that a rule of the policy hides are among them: what is known of them may change the rule.

        Each is returned as its latest change, so that a consumer of the log can start from here. Reading stops after
        the entry that brings the total bytes to `most`; only an empty result means that there are no more.
        """

    async def changes(self, after: int, limit: int, most: int = READ_BYTES, *, ruled: bool = False) -> Sequence[Change]:
        """Return at most `limit` changes with a `seq` above `after`, in order, each with the now visible entry.

        With `ruled`, entries that a rule of the policy hides have theirs, too.

        Reading stops after the change that brings the total bytes to `most`; only an empty result means that there are
        no more. The results of `changes` and `current` are analysed by the Analysis of this store.
        """

    async def oldest(self) -> int:
        """Return the `seq` of the oldest change in the log, 0 before the first."""

    async def newest(self, limit: int, of: Callable[[Entry], T]) -> Sequence[T]:
        """Return `of(entry)` for the `limit` visible servers that were published last, the latest first.

        The date is that of its source, at most the time when the version was first stored. Entries without a date
        follow, the last written first. One entry is in memory at a time. `of` may be called in another thread.
        """

    async def count(self) -> int:
        """Return the number of visible entries."""

    async def listing(
        self,
        after: tuple[str, str],
        limit: int,
        *,
        versions: str = "latest",
        updated_since: float | None = None,
        include_deleted: bool = False,
        curated: bool = False,
        every_kind: bool = False,
        most: int = READ_BYTES,
    ) -> Sequence[Version]:
        """Return at most `limit` versions, ordered by name, after the name and version `after`.

        Reading stops after the version that brings the total bytes of bodies to `most`. Fewer than `limit` versions
        with fewer bytes are the last ones.
        `versions` is "latest" for one of each name, "all", in the order of their texts within a name, or an exact
        version. `updated_since` (seconds since the epoch) excludes versions that last changed earlier; `curated`
        excludes names that are not pinned, allowed, local or published. Without `every_kind` all are servers. The
        versions of a name are those of its preferred source; hidden names have none. The latest version changes when
        the name is updated (see `visibility.Transition`), another one when it is written. Names and versions are
        ordered by the code points of their characters.
        """

    async def versions(self, name: str, after: str = "", limit: int = 1_000, most: int = READ_BYTES) -> list[Version]:
        """Return versions of `name` after the version `after`, none if that is unknown. `most` is as above.

        They are in the order of their `published_at`, then of writing, the last first.
        """

    async def latest(
        self, mcp_ids: Sequence[str], most: int = READ_BYTES, wanted: VersionFilter = LATEST
    ) -> Sequence[Version]:
        """Return the versions that are `wanted` of the visible entries `mcp_ids`, in that order.

        Reading stops after the version that brings the total bytes of bodies to `most`.
        """

    async def version(self, name: str, version: str, *, include_hidden: bool = False) -> Version | None:
        """Return the `version` of `name`, deleted or not; "latest" is the latest one. None if there is none.

        Hidden names have none, except with `include_hidden`.
        """

    async def published(self, name: str) -> Sequence[Entry]:
        """Return the versions of `name` of the source PUBLISHED in the order of writing, also if others are visible."""

    async def of_source(self, source: str, after: str = "", limit: int = 100) -> Sequence[Entry]:
        """Return the latest stored versions of at most `limit` names of `source` after the name `after`, in order."""

    async def without(self, name: str, source: str) -> Entry | None:
        """Return the entry that would be visible for `name` without the records of `source`, None if none would."""

    async def preferred(self, names: Sequence[str]) -> Mapping[str, tuple[str, str]]:
        """Return the source and the version that represent each of `names`, hidden or not, that any source has."""
