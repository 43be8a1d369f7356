"""Facets: the special terms that filters match, what marks and hints of tools add, and the order of lists."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Set
from datetime import UTC, datetime
from functools import lru_cache

from attrs import evolve, frozen

from ...domain.checks import IndexedVerification
from ...domain.entries import Entry
from ...domain.facts import Fact, Facts, with_facts
from ...domain.filters import KINDS as FILTER_KINDS
from ...domain.kinds import KINDS
from ...domain.marks import WITHHELD, is_withheld
from ...domain.tools import OfferedTool
from ...domain.versions import epoch
from ...domain.views import Hit
from ..text import MAX_KEY, MAX_TOKEN, fold, key, runs

FACET = "\0"
"""The prefix of the special term of a filter value."""


_PUNCTUATED = frozenset({"namespace", "tool", "version"})
"""Filters whose values differ by punctuation: io.github.acme-labs is not io.github.acmelabs, and 1.10 is not 11.0."""


def facet(name: str, value: str) -> str:
    """Return the special term of the entries that match the filter `name:value`."""
    return _facet(name, value[:MAX_KEY])


# Most entries share a few values. The cache takes at most about 8 MB.
@lru_cache(maxsize=8_192)
def _facet(name: str, value: str) -> str:
    folded = fold(value).lower() if name in _PUNCTUATED else key(runs(value, humps=False))
    return f"{FACET}{name}:{folded[:MAX_TOKEN]}"


OTHER_KINDS = [facet("kind", name) for name in KINDS]
"""The special terms of the entries that are no servers, one for each of their kinds."""


def list_terms(lists: Iterable[str]) -> list[str]:
    """Return the special terms of the entries in `lists`. No search words have them."""
    return [f"{FACET}\0{name}" for name in sorted(lists)]


def entry_terms(entry: Entry, facts: Facts) -> Iterator[str]:
    """Yield the special terms of the filters that an entry matches by its document."""
    return (facet(kind.name, value) for kind in FILTER_KINDS for value in kind.values_of(entry, facts))


def shown_tools(
    found: IndexedVerification, accepted: Collection[str]
) -> tuple[tuple[OfferedTool, ...], Collection[str]]:
    """Return the tools that remotes listed, without texts that have marks, and the kinds of these marks."""
    marks = [(name, kind) for name, kind, mark in found.marks if mark not in accepted]
    names = {name for name, kind in marks if is_withheld(kind)}
    tools = (
        OfferedTool(tool.name, description=WITHHELD, hints=tool.hints) if tool.name in names else tool
        for tool in found.tools
    )
    return tuple(tools), {kind for _, kind in marks}


def with_filters(terms: Iterable[str], filters: Mapping[str, Collection[str]]) -> Set[str]:
    """Return special terms with these values of `filters`, by their names, in place of others."""
    replaced = tuple(f"{FACET}{name}:" for name in filters)
    others = {term for term in terms if not term.startswith(replaced)}
    return others | {facet(name, value) for name, values in filters.items() for value in values}


def hinted_facts(facts: int, hinted: Collection[str]) -> int:
    """Return `facts` with what the hints of the tools say, which go before the words of the publisher."""
    if "read-only" in hinted:
        return facts & ~int(Fact.WRITES) | int(Fact.READ_ONLY)
    return facts & ~int(Fact.READ_ONLY) | int(Fact.WRITES) if "may-delete" in hinted else facts


UNKNOWN_STARS = -1

HOUR = 3_600
"""Seconds of an hour. Dates are in hours, which float32 represents exactly."""

MAX_HOURS = 1 << 23
"""Dates from this hour on, in the year 2926, are unknown."""


@frozen
class Sorting:
    """The stars of an entry, and the hour since the epoch in which it was updated, 0 if that is unknown."""

    stars: int = UNKNOWN_STARS
    updated: int = 0


def sorting_of(entry: Entry) -> Sorting:
    """Return what `entry` is sorted by."""
    official = entry.official
    moment = epoch(official.get("updatedAt"))
    moment = epoch(official.get("publishedAt")) if moment is None else moment
    hours = 0 if moment is None else int(moment) // HOUR
    return Sorting(UNKNOWN_STARS if entry.stars is None else entry.stars, hours if 0 < hours < MAX_HOURS else 0)


def listed(hit: Hit, facts: int, sorting: Sorting) -> Hit:
    """Return `hit` with the facts in the bits `facts`, its stars and the day of its last update."""
    updated = datetime.fromtimestamp(sorting.updated * HOUR, UTC).date().isoformat() if sorting.updated else ""
    stars = None if sorting.stars == UNKNOWN_STARS else sorting.stars
    return evolve(with_facts(hit, facts), stars=stars, updated=updated)
