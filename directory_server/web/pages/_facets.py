"""The filters beside a list of entries: the selected ones, and the values by which the list can be narrowed down."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from markupsafe import Markup

from ...domain.filters import FACETS, Filter, filters_of, with_filter, without_filter
from ...domain.licenses import OTHER
from ...domain.search import DEFAULT_ORDER, FacetValue, Order, Summary
from ...serialization import MAX_WORDS
from ._cards import search_url
from ._entries import PACKAGE_NAMES, license_name
from ._filters import bdi, plain
from ._translations import Translations

MAX_VALUES, MAX_CATEGORIES = 8, 10
"""Values of a filter, and categories, beside a list: those with the most matches."""

_LANGUAGES = {
    **{"typescript": "TypeScript", "javascript": "JavaScript", "csharp": "C#", "cpp": "C++", "php": "PHP"},
    **{"ocaml": "OCaml", "powershell": "PowerShell"},
}
"""Display names of programming languages whose name is not the filter's value with a capital letter."""


class Choice(NamedTuple):
    """A value of a filter with the number of its entries, and the query with it or, if it is selected, without it."""

    value: str
    entries: int
    keywords: str
    is_selected: bool


def facets(keywords: str, summary: Summary) -> Sequence[tuple[str, Sequence[Choice]]]:
    """Return the filters that narrow the list for `keywords` down, each with its values."""
    given = filters_of(keywords)
    choices = [(name, list(_choices(keywords, name, summary.facets.get(name, ()), given))) for name in FACETS]
    return [(name, found) for name, found in choices if found]


def _choices(keywords: str, name: str, values: Sequence[FacetValue], given: Sequence[Filter]) -> Iterator[Choice]:
    for value in values[: MAX_CATEGORIES if name == "tag" else MAX_VALUES]:
        selected = next((one for one in given if one.name == name and one.has_value(value.value)), None)
        narrowed = with_filter(keywords, name, value.value) if selected is None else without_filter(keywords, selected)
        # A longer query would be rejected.
        if len(narrowed) <= MAX_WORDS:
            yield Choice(value.value, value.count, narrowed, selected is not None)


def facet_name(value: str, name: str, texts: Translations) -> str | Markup:
    """Return the display name of a value of the filter `name`. One that is no text of ours is isolated."""
    if name in ("auth", "runs"):
        return texts(f"entry.{name}_{value}")
    if name == "status":
        return texts(f"status.{value}")
    if name == "official":
        return texts("entry.official")
    if name == "license":
        return texts("search.license_other") if value == OTHER else bdi(license_name(value))
    if name == "transport":
        return bdi(value if value == "stdio" else value.upper())
    if name == "package":
        return bdi(PACKAGE_NAMES[value])
    if name == "language":
        return bdi(_LANGUAGES.get(value, value.capitalize()))
    return bdi(texts.category(plain(value, 60)) if name == "tag" else plain(value, 60))


def list_url(keywords: str, order: Order) -> str:
    """Return the URL of the list for `keywords` in an order."""
    # The start page is no list: a list of all entries has an order.
    return search_url(keywords, sort=order if order != DEFAULT_ORDER or not keywords else "")


def typed_filter(value: str, name: str) -> str:
    """Return the filter `name` with a value as it is typed."""
    return with_filter("", name, value)


FACET_FILTERS: Mapping[str, Callable[..., Any]] = {
    "facet_name": facet_name,
    "list_url": list_url,
    "typed_filter": typed_filter,
    "without_filter": without_filter,
}
