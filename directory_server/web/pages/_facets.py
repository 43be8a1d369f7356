"""The filters beside a list of entries: the selected ones, and the values by which the list can be narrowed down."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from urllib.parse import quote_plus

from attrs import frozen
from markupsafe import Markup

from ...domain.filters import FILTERS, KINDS, Filter, filter_values, filters_of, with_filter, without_filter
from ...domain.licenses import OTHER, UNKNOWN
from ...domain.search import DEFAULT_ORDER, Order, Summary
from ...serialization import MAX_WORDS
from ._cards import search_url
from ._entries import PACKAGE_NAMES, license_name
from ._filters import bdi, plain
from ._translations import Translations

SHOWN = 6
"""Values of a group that are shown at first."""

GROUPS = {
    "marks": [kind.name for kind in KINDS if kind.is_mark],
    **{kind.name: [kind.name] for kind in KINDS if kind.counted and not kind.is_mark},
}
"""The groups of filters beside a list, and the filters of each."""

OPEN = frozenset({"marks", *(kind.name for kind in KINDS if kind.is_open)})
"""The groups that are open at first."""

_LANGUAGES = {
    **{"typescript": "TypeScript", "javascript": "JavaScript", "csharp": "C#", "cpp": "C++", "php": "PHP"},
    **{"ocaml": "OCaml", "powershell": "PowerShell"},
}
"""Display names of programming languages whose name is not the filter's value with a capital letter."""


@frozen
class Choice:
    """A value of the filter `name`, with the number of its entries, its filter as it is typed, and the URL of the list.

    The URL adds the filter to the query, or removes it if it is `chosen`.
    """

    name: str
    value: str
    count: int
    typed: str
    url: str
    chosen: bool


def facets(keywords: str, summary: Summary, order: Order) -> Sequence[tuple[str, Sequence[Choice]]]:
    """Return the groups of filters that narrow the list for `keywords` down, each with its values."""
    given = filters_of(keywords)
    start = f"/?q={quote_plus(keywords)}{'+' if keywords else ''}"
    end = f"&sort={order}" if order != DEFAULT_ORDER else ""

    def choices(name: str) -> Iterator[Choice]:
        for value in summary.facets.get(name, ()):
            selected = next((filter for filter in given if filter.name == name and filter.has_value(value.value)), None)
            typed, quoted = _typed(name, value.value)
            # A longer query would be rejected.
            if selected is not None or len(keywords) + 1 + len(typed) <= MAX_WORDS:
                url = (
                    f"{start}{quoted}{end}" if selected is None else list_url(without_filter(keywords, selected), order)
                )
                yield Choice(name, value.value, value.count, typed, url, selected is not None)

    groups = [(group, [choice for name in names for choice in choices(name)]) for group, names in GROUPS.items()]
    return [(group, values) for group, values in groups if values]


# Most lists have the same values. The cache takes at most about 1 MB.
@lru_cache(maxsize=4_096)
def _typed(name: str, value: str) -> tuple[str, str]:
    """Return the filter `name` with a value as it is typed, and the same for a query string."""
    typed = with_filter("", name, value)
    return typed, quote_plus(typed)


@lru_cache(maxsize=4_096)
def facet_name(value: str, name: str, texts: Translations) -> str | Markup:
    """Return the display name of a value of the filter `name`. One that is no text of ours is isolated."""
    key = f"facet.{name}_{value}"
    if key in texts:
        return texts(key)
    if name == "status":
        return texts(f"status.{value}")
    if name == "category":
        return texts(f"category.{value}")
    if value == UNKNOWN:
        return texts("facet.unknown")
    if name == "license":
        return texts("search.license_other") if value == OTHER else bdi(license_name(value))
    if name == "transport":
        return bdi(value if value == "stdio" else value.upper())
    if name == "package":
        return bdi(PACKAGE_NAMES.get(value, plain(value, 60)))
    return bdi(_LANGUAGES.get(value, value.capitalize()) if name == "language" else plain(value, 60))


def filter_name(filter: Filter, texts: Translations) -> Markup:
    """Return a filter of a query in words."""
    values = [facet_name(value, filter.name, texts) for value in filter_values(filter.name, filter.value)]
    value = Markup(" / ").join(values)
    # Their values say nothing alone.
    return Markup("{}: {}").format(texts(f"search.facet_{filter.name}"), value) if not FILTERS[filter.name] else value


def list_url(keywords: str, order: Order, page: int = 1) -> str:
    # The start page is no list: a list of all entries has an order.
    sort = order if order != DEFAULT_ORDER or not keywords else ""
    return search_url(keywords, sort=sort, page=str(page) if page > 1 else "")
