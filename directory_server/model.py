"""The values that pass between the layers: frozen, without I/O, without JSON."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import accumulate
from typing import Any, Literal, TypeVar

from attrs import field, frozen

from ._entry import NAMESPACE as NAMESPACE
from ._entry import OFFICIAL as OFFICIAL
from ._entry import PUBLISHER as PUBLISHER
from ._entry import Detail as Detail
from ._entry import Entry as Entry
from ._entry import Hit as Hit
from ._entry import Tool as Tool
from ._entry import mcp_id_of as mcp_id_of
from .install import Configuration as Configuration
from .install import Input as Input
from .install import Installation as Installation
from .install import Notice as Notice

T = TypeVar("T")

DEFAULT_LIMIT = 50
"""Hits in an answer to one who names no limit."""

PAGE_BYTES = 524_288
"""Bytes from which on a page of a list ends before its limit, at least one item in."""

ChangeKind = Literal["added", "changed", "removed"]
Outcome = Literal["added", "changed", "unchanged", "too_old", "over_limit"]
"""What became of a published entry. The last two are not kept: older than the versions of its name that are, or beyond
what its source may store."""

Mark = Literal["hidden", "pinned", "allowed"]

LOCAL = "local"
"""The source of the operator's own entries; it goes before all others."""


@frozen
class Place:
    """A place in a ranked list: the last entry seen, by its score and its server name."""

    score: float
    name: str


@frozen
class Query:
    """A search: the words, at most `limit` hits, those ranked behind `after`."""

    keywords: str
    limit: int = DEFAULT_LIMIT
    after: Place | None = None


@frozen
class Page:
    """Hits, best first, and the place to go on from, or None where the list ends."""

    hits: Sequence[Hit]
    next: Place | None = None
    _forms: dict[Callable[[Page], Any], Any] = field(factory=dict, init=False, eq=False, repr=False)

    @cached_property
    def size(self) -> int:
        """The bytes of the hits, about."""
        return sum(hit.size for hit in self.hits)

    def count_within(self, size: int) -> int:
        """Return how many hits from the first on have at most `size` bytes, at least one."""
        return max(1, sum(total <= size for total in accumulate(hit.size for hit in self.hits)))

    def form(self, make: Callable[[Page], T]) -> T:
        """Return what `make` makes of this page, once for all whom the page answers."""
        found = self._forms.get(make)
        made: T = self._forms.setdefault(make, make(self)) if found is None else found
        return made


@frozen
class Change:
    """One change of what the directory shows; `seq` orders them all.

    `body` is the entry, encoded, and `analysed` what an Analysis made of it; both are None for one that was removed.
    `pinned` is whether it comes first among the hits of the searches that find it.
    """

    seq: int
    kind: ChangeKind
    mcp_id: str
    body: bytes | None
    analysed: bytes | None
    pinned: bool = False


@frozen
class Version:
    """One version of an entry as a registry lists it; `body` is the entry, encoded.

    Times are seconds since the epoch: `published_at` as its source says, else when it came here; `updated_at` when it
    last changed here. `latest` is of the one version that stands for the name, `deleted` of one that its source took
    back, and `curated` of names that the operator stands by: pinned, allowed, or an entry of his own.
    """

    name: str
    version: str
    body: bytes
    published_at: float
    updated_at: float
    latest: bool
    deleted: bool
    curated: bool


@frozen
class RegistryToken:
    """A token that opens the registry API from within its paths, without its secret. Times are epoch seconds."""

    id: str
    label: str
    last_four: str
    created_at: float
    revoked_at: float | None


@frozen
class Curated:
    """A name that the operator has a say in: his marks, and whether there is an entry of his own (`local`)."""

    name: str
    local: bool
    hidden: bool
    pinned: bool
    allowed: bool


@frozen
class Walk:
    """A round that is under way: through all entries (`full`) or those changed since a moment, and where it is.

    `began` is when, by upstream's clock if it tells the time (seconds since the epoch); `cursor` is of the next page.
    """

    full: bool
    began: float
    cursor: str = ""


@frozen
class Mirrored:
    """How far an upstream is followed, and how that went; moments are seconds since the epoch.

    `error` is why the latest round failed, empty if it did not, and `failures` how many have since the last that did
    not. `entries` are the upstream's that are kept. `question` is what of which address is taken; what changed after
    `mark` is asked for in the next round, with `etag` and `modified` where the answer to the same is known. `walked` is
    how many names the last full walk found, which ended at `walked_at`.
    """

    name: str
    question: str = ""
    last_round: float | None = None
    last_success: float | None = None
    next_round: float = 0.0
    error: str = ""
    failures: int = 0
    entries: int = 0
    mark: float | None = None
    etag: str = ""
    modified: str = ""
    walked: int = 0
    walked_at: float | None = None
    walk: Walk | None = None


@frozen
class ApiKey:
    """An API key as its operator sees it, without the secret.

    Times are seconds since the epoch; `limit` is requests in any 60 minutes, None for unlimited; `owner` is the id of
    the account that it belongs to, None for one that an operator made. `shared` is the id of an owner who is not
    approved, whose keys share one quota; else None.
    """

    id: str
    label: str
    last_four: str
    limit: int | None
    created_at: float
    expires_at: float | None = None
    revoked_at: float | None = None
    owner: str | None = None
    shared: str | None = None

    @property
    def quota_id(self) -> str:
        """The id that requests are charged to: the owner's while keys share a quota, else the key's own."""
        return self.shared or self.id


@frozen
class NewSecret:
    """The secret of a key that was just created, or `rotated`."""

    secret: str = field(repr=False)
    rotated: bool


@frozen
class Account:
    """A person who may have API keys; `active` once there is a password. Times are seconds since the epoch.

    `approved` is whether the operator created or approved the account. One that registered by itself is pending.
    """

    id: str
    email: str
    created_at: float
    active: bool = field(converter=bool)
    disabled_at: float | None = None
    approved: bool = field(converter=bool, default=True)


@frozen
class Allowance:
    """What is left to a key: of `limit` requests in any `window` seconds, `remaining` now.

    `reset` is the whole seconds until one more unit comes back (0 when nothing is spent); `limit` is None for a
    key without one, and then `remaining` is None too.
    """

    limit: int | None
    remaining: int | None
    reset: int
    window: int = 3600
