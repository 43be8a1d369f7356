"""The filters beside a list of entries: the selected ones, and the values by which the list can be narrowed down."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attrs import frozen

from ...domain.filters import FACETS, Filter, filters_of, with_filter, without_filter
from ...domain.licenses import OTHER
from ...domain.search import DEFAULT_ORDER, ORDERS, FacetValue, Order, Summary
from ...serialization import MAX_WORDS
from ._cards import search_url
from ._entries import PACKAGE_NAMES, license_name
from ._filters import plain
from ._translations import Translations

MAX_VALUES, MAX_CATEGORIES = 8, 10
"""Values of a filter, and categories, beside a list: those with the most matches."""

_LANGUAGES = {
    **{"typescript": "TypeScript", "javascript": "JavaScript", "csharp": "C#", "cpp": "C++", "php": "PHP"},
    **{"ocaml": "OCaml", "powershell": "PowerShell"},
}
"""Display names of programming languages whose name is not the filter's value with a capital letter."""


@frozen
class FacetChip:
    """A value of a filter: the URL of the list with it or, if it is selected, without it.

    `text` is the key of its text, or empty: then `label` is shown. `filter` is the filter as it is typed.
    """

    label: str
    text: str
    count: int
    href: str
    selected: bool
    filter: str


@frozen
class Facet:
    """The values of the filter `name`."""

    name: str
    chips: Sequence[FacetChip]


@frozen
class SortLink:
    """An order of the list, and the URL of the list in it."""

    order: Order
    href: str
    current: bool


@frozen
class SelectedFilter:
    """A filter among the search words, and the URL of the list without it."""

    name: str
    value: str
    href: str


def facets(keywords: str, sort: Order, summary: Summary, texts: Translations) -> Sequence[Facet]:
    """Return the filters that narrow the list for `keywords` down, with the names of categories in `texts`."""
    given = filters_of(keywords)
    found = []
    for name in FACETS:
        most = MAX_CATEGORIES if name == "tag" else MAX_VALUES
        chips = list(_chips(keywords, sort, name, summary.facets.get(name, ())[:most], given, texts))
        if chips:
            found.append(Facet(name, chips))
    return found


def sort_links(keywords: str, sort: Order) -> Sequence[SortLink]:
    """Return the links to the list for `keywords` in each order."""
    return [SortLink(each, _url(keywords, each), each == sort) for each in ORDERS]


def selected_filters(keywords: str, sort: Order) -> Sequence[SelectedFilter]:
    """Return the filters in `keywords`."""
    return [
        SelectedFilter(each.name, plain(each.value, 60), _url(without_filter(keywords, each), sort))
        for each in filters_of(keywords)
    ]


def _chips(
    keywords: str, sort: Order, name: str, values: Sequence[FacetValue], given: Sequence[Filter], texts: Translations
) -> Iterator[FacetChip]:
    for each in values:
        selected = next((one for one in given if one.name == name and one.has_value(each.value)), None)
        narrowed = with_filter(keywords, name, each.value) if selected is None else without_filter(keywords, selected)
        # A longer query would be rejected.
        if len(narrowed) <= MAX_WORDS:
            label, text = _label(name, each.value)
            label = texts.category(label) if name == "tag" else label
            typed = with_filter("", name, each.value)
            yield FacetChip(label, text, each.count, _url(narrowed, sort), selected is not None, typed)


def _label(name: str, value: str) -> tuple[str, str]:
    """Return the display name of a value, and the key of its text if it has one."""
    if name in ("auth", "runs"):
        return "", f"entry.{name}_{value}"
    if name == "status":
        return "", f"status.{value}"
    if name == "official":
        return "", "entry.official"
    if name == "license":
        return ("", "search.license_other") if value == OTHER else (license_name(value), "")
    if name == "transport":
        return value if value == "stdio" else value.upper(), ""
    if name == "package":
        return PACKAGE_NAMES[value], ""
    return (_LANGUAGES.get(value, value.capitalize()) if name == "language" else plain(value, 60)), ""


def _url(keywords: str, sort: Order) -> str:
    # The start page is no list: a list of all entries has an order.
    order = sort if sort != DEFAULT_ORDER or not keywords else ""
    return search_url(keywords, sort=order)
