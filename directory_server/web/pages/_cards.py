"""Filters of templates for entries in lists: short values, and the links that narrow a list down."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import Any
from urllib.parse import urlencode

from ...domain.entries import MAX_NAME, Entry
from ...domain.filters import FILTERS, PACKAGES, with_filter
from ...domain.namespaces import CODE_HOSTS, GENERIC, name_parts
from ._filters import plain

MAX_TAGS = 5
"""Tags of a card."""

MAX_KINDS = 4
"""Types of packages of a card."""

HUES = 8
"""Colours of avatars; the style sheet has a class for each."""

_DATE = re.compile(r"[0-9]{4}-[01][0-9]-[0-3][0-9]")


def owner(name: str) -> str:
    """Return the owner of a server: the account at a code host, else the domain."""
    namespace = name.rpartition("/")[0]
    for host in CODE_HOSTS:
        if namespace.startswith(host):
            return namespace.removeprefix(host)
    return ".".join(reversed(namespace[:200].split(".")))


def avatar(entry: Entry) -> tuple[str, int]:
    """Return the tile of an entry: the first letter of its name, and the colour of its owner."""
    name = plain(entry.title or entry.name, 100) or entry.mcp_id
    letter = next((each for each in name.rpartition("/")[2] if each.isalnum()), "?")
    namespace = entry.name.rpartition("/")[0]
    digest = blake2b(namespace.encode("utf-8", "surrogatepass"), digest_size=1).digest()
    return letter.upper()[:1], digest[0] % HUES


def updated_on(entry: Entry) -> str:
    """Return the date of the last change of an entry, else that of its publication; empty if both are unknown."""
    return date(entry.official.get("updatedAt")) or date(entry.official.get("publishedAt"))


def short_number(number: int) -> str:
    """Return a number of at most three digits and a unit: 950, 1.2k, 12k, 1.2M."""
    for unit, factor in (("M", 1_000_000), ("k", 1_000)):
        if number >= factor:
            tenths = number * 10 // factor
            return f"{tenths // 10}.{tenths % 10}{unit}" if tenths < 100 else f"{tenths // 10}{unit}"
    return str(number)


def date(value: object) -> str:
    """Return the date of an RFC 3339 text, an empty text for any other value."""
    match = _DATE.match(value) if isinstance(value, str) else None
    return match[0] if match else ""


def search_url(keywords: str, **others: str) -> str:
    """Return the URL of a search; empty values of `others` are left out."""
    given = {name: value for name, value in {"q": keywords, **others}.items() if value}
    return f"/?{urlencode(given)}" if given else "/"


# A page has about 200 of these links, and most entries share a few values. The cache takes at most about 1 MB.
@lru_cache(maxsize=4_096)
def _filter_url(name: str, value: str) -> str:
    return search_url(with_filter("", name, value))


def mark_url(mark: str) -> str:
    """Return the URL of the entries with a mark, which is the name of a filter and its value; empty if it has none."""
    name, _, value = mark.partition("_")
    return _filter_url(name, value) if value in FILTERS.get(name, ()) else ""


def filter_url(value: str, name: str) -> str:
    """Return the URL of the entries with a `value` of the filter `name`."""
    return _filter_url(name, value)


def package_types(entry: Entry) -> Sequence[str]:
    """Return the known types of the packages of an entry, at most MAX_KINDS."""
    kinds = [package.get("registryType") for package in entry.packages]
    return [each for each in PACKAGES if each in kinds][:MAX_KINDS]


def tags(entry: Entry) -> Sequence[tuple[str, str]]:
    """Return the tags and categories of an entry, at most MAX_TAGS, with the URLs of the entries that have them.

    Tags that repeat another one or words of its title, or say that it is an MCP server, are left out. The URL is empty
    if no filter finds the tag.
    """
    known = GENERIC | name_parts((entry.title or entry.name.rpartition("/")[2])[:MAX_NAME])
    published = (*entry.tags, *entry.categories)[: 2 * MAX_TAGS]
    labels: dict[str, str] = {}
    for tag in published:
        label = plain(tag, 30)
        if label and not name_parts(label) <= known:
            labels.setdefault(label.casefold(), label)
    # A shortened or cleaned label is not the tag.
    return [(label, _tag_url(label) if label in published else "") for label in list(labels.values())[:MAX_TAGS]]


def _tag_url(label: str) -> str:
    return _filter_url("tag", label) if '"' not in label and any(map(str.isalnum, label)) else ""


CARD_FILTERS: Mapping[str, Callable[..., Any]] = {
    "avatar": avatar,
    "filter_url": filter_url,
    "mark_url": mark_url,
    "owner": owner,
    "package_types": package_types,
    "short_number": short_number,
    "tags": tags,
    "updated_on": updated_on,
}
