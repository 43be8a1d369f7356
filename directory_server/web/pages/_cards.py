"""Entries in lists: sanitized and bounded values, and the links that narrow a list down."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b
from urllib.parse import urlencode

from attrs import frozen

from ...domain.entries import Entry
from ...domain.facts import CODE_HOSTS
from ...domain.filters import FILTERS, PACKAGES, with_filter
from ...domain.tools import OfferedTool
from ...domain.views import ACTIVE
from ._entries import PACKAGE_NAMES, transports, version_name
from ._filters import plain
from ._translations import Translations

MAX_TAGS = 5
"""Tags of a card."""

MAX_KINDS = 4
"""Types of packages of a card."""

HUES = 8
"""Colours of avatars; the style sheet has a class for each."""

_DATE = re.compile(r"[0-9]{4}-[01][0-9]-[0-3][0-9]")


@frozen
class Avatar:
    """A tile with the first letter of a name; its colour is that of the owner."""

    letter: str
    hue: int


@frozen
class Chip:
    """A property of an entry. `href` leads to all entries that have it, and is empty if no filter finds them.

    `text` is the key of its text, or empty: then `label` is shown.
    """

    kind: str
    href: str
    label: str = ""
    text: str = ""


@frozen
class Card:
    """An entry in a list, as sanitized text. `stars` and `exact_stars` are empty if they are unknown."""

    mcp_id: str
    name: str
    server_name: str
    brief: str
    owner: str
    version: str
    stars: str
    exact_stars: str
    updated: str
    official: bool
    status: str
    status_message: str
    avatar: Avatar
    chips: Sequence[Chip]
    tools: Sequence[tuple[str, str]]


def card(entry: Entry, texts: Translations, marks: Sequence[str], tools: Sequence[OfferedTool] = ()) -> Card:
    """Return the card of `entry` in the language of `texts`. `marks` are those of its facts, `tools` match a search."""
    name, namespace = plain(entry.title or entry.name, 100) or entry.mcp_id, entry.name.rpartition("/")[0]
    return Card(
        mcp_id=entry.mcp_id,
        name=name,
        server_name=plain(entry.name, 120),
        brief=plain(entry.descriptions.get(texts.language) or entry.brief, 240),
        owner=plain(owner(namespace), 60),
        version=version_name(entry.version, 30),
        stars="" if entry.stars is None else short_number(entry.stars),
        exact_stars="" if entry.stars is None else f"{entry.stars:,}",
        updated=date(entry.official.get("updatedAt")) or date(entry.official.get("publishedAt")),
        official=entry.is_official,
        status="" if entry.status == ACTIVE else plain(entry.status, 30),
        status_message=plain(entry.status_message, 240),
        avatar=avatar(name, namespace),
        chips=[*map(_mark, marks), *_transports(entry), *_packages(entry), *_tags(entry, texts)],
        tools=[(plain(tool.name, 60), plain(tool.description, 120)) for tool in tools],
    )


def owner(namespace: str) -> str:
    """Return the owner of a namespace: the account at a code host, else the domain."""
    for host in CODE_HOSTS:
        if namespace.startswith(host):
            return namespace.removeprefix(host)
    return ".".join(reversed(namespace[:200].split(".")))


def avatar(name: str, namespace: str) -> Avatar:
    """Return the avatar of the entry `name` in a namespace."""
    letter = next((each for each in name.rpartition("/")[2] if each.isalnum()), "?")
    digest = blake2b(namespace.encode("utf-8", "surrogatepass"), digest_size=1).digest()
    return Avatar(letter.upper()[:1], digest[0] % HUES)


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


def _mark(mark: str) -> Chip:
    name, _, value = mark.partition("_")
    href = _filter_url(name, value) if value in FILTERS.get(name, ()) else ""
    return Chip("fact", href, text=f"entry.{mark}")


def _transports(entry: Entry) -> Sequence[Chip]:
    found = transports(entry.transports)
    return [Chip("transport", _filter_url("transport", each.lower()), each) for each in found]


def _packages(entry: Entry) -> Sequence[Chip]:
    kinds = [package.get("registryType") for package in entry.packages]
    known = [each for each in PACKAGES if each in kinds][:MAX_KINDS]
    return [Chip("package", _filter_url("package", each), PACKAGE_NAMES[each]) for each in known]


def _tags(entry: Entry, texts: Translations) -> Sequence[Chip]:
    published = (*entry.tags, *entry.categories)[: 2 * MAX_TAGS]
    labels = [each for each in dict.fromkeys(plain(tag, 30) for tag in published) if each][:MAX_TAGS]
    # A shortened or cleaned label is not the tag.
    return [Chip("tag", _tag_url(label) if label in published else "", texts.category(label)) for label in labels]


def _tag_url(label: str) -> str:
    return _filter_url("tag", label) if '"' not in label and any(map(str.isalnum, label)) else ""
