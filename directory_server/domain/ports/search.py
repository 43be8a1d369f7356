"""Ports of search and of the change log's subscribers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence, Set
from pathlib import Path
from typing import Protocol

from ..changes import Change
from ..entries import Entry
from ..scopes import Scope
from ..search import Likeness, Page, Query, ToolHit
from ..views import Hit
from .points import Point, Single

LikenessSource = Callable[[Query], "Awaitable[Likeness | None]"]
"""Returns the likeness for a query, None if there is none for it now. It never raises, and answers soon."""


class Subscriber(Protocol):
    """A consumer of the change log."""

    async def apply(self, changes: Sequence[Change]) -> None:
        """Apply `changes`, which are in order. Applying a change twice must be harmless. None end a load of all."""


class Analysis(Protocol):
    """Computes the index input of an entry, once for each version of an entry."""

    @property
    def version(self) -> str:
        """The version of the analysis; it differs whenever the result for the same entry may differ."""

    def __call__(self, entry: Entry) -> bytes:
        """Return the index input of `entry`. May be called in any thread."""


class Announcer(Subscriber, Protocol):
    """A consumer of the changes after the start of the process."""

    def begin(self, seq: int) -> None:
        """Prepare for the changes after `seq`."""


Matching = Callable[[Change, Collection[str]], Set[str]]
"""Returns those of some saved queries whose words all occur in the entry of a change, analysed as in a search."""


class Index(Subscriber, Protocol):
    """The in-memory search index. `apply` feeds it with results of an Analysis."""

    @property
    def generation(self) -> int:
        """A counter that increases whenever search results may have changed."""

    def __len__(self) -> int:
        """Return the number of searchable entries."""

    async def search(self, query: Query) -> Page:
        """Return the hits for `query`, best first; equal scores are ordered by name. Raises Unavailable."""

    def hits(self, mcp_ids: Iterable[str]) -> Mapping[str, Hit]:
        """Return the hits of those of the entries `mcp_ids` that are searchable, by their ids."""

    def has(self, mcp_id: str, scope: Scope) -> bool:
        """Return whether an entry is searchable within `scope`."""

    async def search_tools(self, query: Query) -> Sequence[ToolHit]:
        """Return at most `query.limit` tools that match `query`, of entries that do, best first. Raises Unavailable."""


class IndexFile(Protocol):
    """The file of an index: processes read it at their start, and the processes of a machine share its memory.

    The methods block, `read` and `write` for about a second for each million entries. Only one may run at a time.
    """

    path: Path

    @property
    def copy(self) -> Subscriber:
        """The index as `read` found it in the file."""

    def is_other(self) -> bool:
        """Return whether there is another file than the one that was read last. Raises OSError."""

    def is_outdated(self) -> bool:
        """Return whether the index shares no memory with the file that was read last, or none was."""

    def read(self, log: str) -> tuple[int, str]:
        """Set `copy` to the index in the file; return the `seq` and the mcp_id of its latest change, as written.

        `log` is the id of the change log. The message of a ValueError is the reason why the file cannot be used. Raises
        OSError, also without a file.
        """

    def adopt(self) -> None:
        """Make `copy` the content of the index. It must have received all changes that the index had before `read`."""

    def abandon(self) -> None:
        """Release `copy`, which will not be adopted."""

    def clear(self) -> None:
        """Make the index empty."""

    def write(self, log: str, seq: int, last: str) -> bool:
        """Replace the file. All changes to `seq`, which is one of the entry `last`, are in the index. Raises OSError.

        Return False if another process is writing it.
        """


SUBSCRIBERS = Point[Subscriber]()
"""Get each change just before the index does."""

SEARCHED = Point[Callable[[str, str, str, bool], None]]()
"""Get each search: its API, client and keywords, and whether it had hits."""

OPENED = Point[Callable[[str, str], None]]()
"""Get the id of each entry that was opened, and that of the account or key, which is empty if it is unknown."""


_NO_USERS: Mapping[str, int] = {}


def no_users() -> Mapping[str, int]:
    """Return nothing, always the same object."""
    return _NO_USERS


USERS = Single[Callable[[], Mapping[str, int]]](no_users)
"""Returns how many accounts use entries, by the ids of these; another object once the numbers have changed."""

LIKENESS = Single[LikenessSource | None](None)
"""Takes part in the order of the first hits of searches."""
