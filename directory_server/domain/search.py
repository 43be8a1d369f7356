"""Search requests and result pages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Literal, get_args

from attrs import evolve, field, frozen

from ..texts.sanitize import clean_line
from .kinds import names_kinds
from .scopes import Scope
from .tools import OfferedTool
from .views import Hit

DEFAULT_LIMIT = 50
"""Hits on a page if the request has no limit."""


PAGE_BYTES = 524_288
"""Bytes after which a page ends before its limit; a page has at least one item."""


@frozen
class Position:
    """A position in a ranked list: score and server name of the last entry before it."""

    score: float
    name: str


Order = Literal["relevance", "stars", "updated", "name"]
"""The order of hits: best first, most stars first, last updated first, or by registered name.

Entries without stars or a date come last.
"""

ORDERS: Sequence[Order] = get_args(Order)[:3]
"""The orders that all APIs and the pages offer. That by name reads the names of all matches, see MAX_NAMED."""

MAX_NAMED = 50_000
"""Matches that can be sorted by name. They take 0.1 seconds."""

DEFAULT_ORDER: Order = "relevance"

_HOUR = 3_600


Kinds = Literal["servers", "asked", "all"]
"""The kinds of entries that a query finds: servers only, those of a filter `kind` in its words or else servers, all."""


Likeness = Callable[[Sequence[int]], "Sequence[float] | None"]
"""Returns how close entries are to what a query means, from a source beside their words, or None if it does not know.

Entries are given by the numbers that `search.entry_key` has for them. A usual entry has 0, one that is very close 1.
"""


def no_likeness(entries: Sequence[int]) -> Sequence[float] | None:
    """Return None: words alone are known."""
    return None


@frozen
class Query:
    """A search for `keywords`: at most `limit` hits, in the order `sort`, after the position `after` and `offset` hits.

    `until` is in hours since the epoch: in the order `updated`, a later date counts as unknown, because dates are
    claims of publishers. `since` excludes entries that were updated before this hour, if they are sorted by a date or
    name. With `browse`, the page has a summary, and a query without keywords matches all entries.
    `likeness` takes part in the order of the first hits; equal ones give the same order. None is for a query that was
    not prepared yet (see `Directory.prepare`). Only entries within `scope` match, of certain `kinds`.
    """

    keywords: str
    limit: int = DEFAULT_LIMIT
    after: Position | None = None
    sort: Order = DEFAULT_ORDER
    until: int = 0
    since: int = 0
    browse: bool = False
    offset: int = 0
    likeness: Likeness | None = field(default=None, repr=False)
    scope: Scope = None
    kinds: Kinds = "asked"

    @property
    def only_servers(self) -> bool:
        """Whether it finds servers only."""
        return self.kinds == "servers" or (self.kinds == "asked" and not names_kinds(self.keywords))

    @property
    def end(self) -> int:
        """The number of the last hit that it asks for."""
        return self.offset + self.limit

    def sorted_by(self, sort: Order, now: float) -> Query:
        """Return this query in the order `sort`; `now` is in seconds since the epoch."""
        # Other orders do not depend on the time, and one page in the cache serves all hours.
        return evolve(self, sort=sort, until=int(now) // _HOUR if sort == "updated" else 0)


@frozen
class FacetValue:
    """A value of a filter, and the number of matches that have it."""

    value: str
    count: int


@frozen
class Summary:
    """All matches of a query: their number, and the values that they have by the name of the filter, without zeros.

    `close` is the number of those that match nearly as well as the best ones.

    `namespaces` returns the namespaces of the matches with their numbers, the most frequent first. It reads all names:
    a million take a second.
    `corrected` has the misspelt words of the query, in lower case, and the words that the matches have instead.
    """

    total: int
    close: int
    facets: Mapping[str, Sequence[FacetValue]]
    namespaces: Callable[[], Sequence[FacetValue]] = field(default=tuple, eq=False, repr=False)
    corrected: Mapping[str, str] = field(factory=dict)


@frozen
class Hits:
    """Hits as `records`, their encoded form. A hit is decoded when it is read: most pages are sent as they are stored.

    `ids` returns their ids, without decoding hits. The module serialization has the form of records. `size` is their
    number of bytes. `reasons` returns for each hit, as text, the conditions of the query that it satisfies. It returns
    nothing if no hit satisfies any. `tools` returns the tools of each hit that match the query, as far as hits name
    them, likewise.
    """

    records: Sequence[bytes]
    _decode: Callable[[bytes], Hit] = field(eq=False, repr=False)
    ids: Callable[[], Sequence[str]] = field(eq=False, repr=False)
    size: int
    reasons: Callable[[], Sequence[str]] = field(default=tuple, eq=False, repr=False)
    tools: Callable[[], Sequence[Sequence[OfferedTool]]] = field(default=tuple, eq=False, repr=False)

    def __len__(self) -> int:
        return len(self.records)

    def __iter__(self) -> Iterator[Hit]:
        return map(self._decode, self.records)

    def __getitem__(self, place: int) -> Hit:
        return self._decode(self.records[place])


Match = Literal["strong", "partial", "weak", "none"]
"""How well the best hits answer a query: `weak` if they lack most of it, `none` without hits."""

STRONG, CLOSE = 0.6, 0.4
"""The least strength of a strong match, and of a close one. Below it, a match is weak."""


MAX_SEARCHED_FOR = 700
"""Characters of the text of a page that says what was searched of a long text."""


def _searched_text(text: str) -> str:
    return clean_line(text, MAX_SEARCHED_FOR) if text else ""


@frozen
class ToolHit:
    """A tool that matches a query, and the entry that offers it."""

    hit: Hit
    tool: OfferedTool


@frozen
class Page:
    """Hits, best first, and the position of the next page; None after the last page.

    Only pages of queries with `browse` have a summary. `strength` is how well the first hits of the query answer it,
    from 0 to 1; a query without a close match has only these hits. `relevance` is how well each hit answers it, from 0
    to 1: the best one has the strength of the query. `searched_for` is what was searched of a long text, cleaned like
    all texts from outside; it is empty where all of it was.
    """

    hits: Hits
    next: Position | None = None
    summary: Summary | None = None
    strength: float = field(default=1.0, eq=False)
    relevance: Sequence[float] = field(default=(), eq=False, repr=False)
    searched_for: str = field(default="", converter=_searched_text)

    @property
    def match(self) -> Match:
        """How well the first hits of the query answer it, as a step."""
        if not len(self.hits):
            return "none"
        return "strong" if self.strength >= STRONG else "partial" if self.strength >= CLOSE else "weak"

    def count_within(self, size: int) -> int:
        """Return the number of leading hits that fit into `size` bytes, at least 1."""
        return max(1, sum(total <= size for total in accumulate(map(len, self.hits.records))))
