"""Filters of templates for entries in lists: titles, short values, and the links that narrow a list down."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from datetime import UTC, date, datetime
from functools import lru_cache
from urllib.parse import urlencode
from zlib import crc32

from ...domain.entries import MAX_NAME, Entry
from ...domain.filters import PACKAGES, with_filter
from ...domain.namespaces import CODE_HOSTS, GENERIC, name_parts, name_words
from ...domain.titles import display_title
from ._filters import plain

MAX_TAGS = 4
"""Tags of a card."""

MAX_KINDS = 4
"""Types of packages of a card."""

MAX_BRIEF = 500
"""Characters of a description on a card. The style sheet shows two lines of it."""

TINTS = 8
"""Colours of tiles, `.t0` to `.t7` of the style sheet."""

ARCHIVED = "archived"
"""A category by which lists of servers say that nobody maintains an entry."""

SMALL_WORDS = frozenset(("a", "an", "and", "by", "for", "in", "of", "on", "the", "to", "with"))
"""Words of a title that have no initial on a tile."""

_SCRIPTS = {"en": ("LATIN",), "zh": ("LATIN", "CJK")}
"""The scripts of each language of the pages, as the names of their letters begin."""


def owner(name: str) -> str:
    """Return the owner of a server: the account at a code host, else the domain."""
    namespace = name.rpartition("/")[0]
    for host in CODE_HOSTS:
        if namespace.startswith(host):
            return namespace.removeprefix(host)
    return ".".join(reversed(namespace[:200].split(".")))


def card_title(entry: Entry) -> str:
    """Return the title of an entry, derived from its name if it has none."""
    return plain(display_title(entry.title, entry.name), 100) or entry.mcp_id


def card_brief(entry: Entry, language: str) -> str:
    """Return the description of an entry in a language, else its own, whole if its source has cut it."""
    return plain(entry.descriptions.get(language) or entry.whole_brief, MAX_BRIEF)


def card_face(entry: Entry) -> tuple[str, int]:
    """Return the initials of an entry, at most two, and the number of the tint of its publisher."""
    words = [word for word in name_words(card_title(entry)) if word.casefold() not in GENERIC | SMALL_WORDS]
    initials = "".join(word[0].upper() for word in words[:2])
    return initials[:1] if not initials.isascii() else initials, crc32(owner(entry.name).encode()) % 1_009 % TINTS


def card_state(entry: Entry) -> str:
    """Return why an entry should not be used: `archived`, or its status in the registry; else an empty text."""
    if entry.status != "active":
        return plain(entry.status, 30)
    return ARCHIVED if any(label.casefold() == ARCHIVED for label in entry.categories) else ""


def age(day: str, now: float) -> tuple[str, int] | None:
    """Return the key of the text for the age of a date (RFC 3339, full-date), and its number of days, months or years.

    Return None for an empty text, and for a date in the future, which is no fact.
    """
    try:
        days = (datetime.fromtimestamp(now, UTC).date() - date.fromisoformat(day)).days
    except ValueError:
        return None
    if days < 0:
        return None
    for unit, length in (("years", 365), ("months", 30)):
        if days >= length:
            return unit, days // length
    return ("days", days) if days else ("today", 0)


def time_since(date: str, now: float) -> tuple[str, int]:
    """Return the key of the text for the time since `date` (RFC 3339), and its number of minutes, hours or days."""
    seconds = max(0.0, now - datetime.fromisoformat(date).timestamp())
    units = (86_400, "days_ago"), (3_600, "hours_ago"), (60, "minutes_ago")
    return next(((key, int(seconds // length)) for length, key in units if seconds >= length), ("just_now", 0))


def short_number(number: int) -> str:
    """Return a number of at most three digits and a unit: 950, 1.2k, 12k, 1.2M."""
    for unit, factor in (("M", 1_000_000), ("k", 1_000)):
        if number >= factor:
            tenths = number * 10 // factor
            return f"{tenths // 10}.{tenths % 10}{unit}" if tenths < 100 else f"{tenths // 10}{unit}"
    return str(number)


def search_url(keywords: str, **others: str) -> str:
    """Return the URL of a search; empty values of `others` are left out."""
    given = {name: value for name, value in {"q": keywords, **others}.items() if value}
    return f"/?{urlencode(given)}" if given else "/"


def json_url(keywords: str, *, has_open_registry: bool) -> str:
    """Return the URL of a search in the registry API if everybody may read that, else in the REST API.

    Only the registry API lists all entries: without `keywords`, the URL may be empty.
    """
    if has_open_registry:
        return "/v0.1/servers" + (f"?{urlencode({'search': keywords})}" if keywords else "")
    return f"/api/open/v1/search?{urlencode({'keywords': keywords})}" if keywords else ""


# Most entries share a few values. The cache takes at most about 1 MB.
@lru_cache(maxsize=4_096)
def filter_url(value: str, name: str) -> str:
    """Return the URL of the entries with a `value` of the filter `name`."""
    return search_url(with_filter("", name, value))


def package_types(entry: Entry) -> Sequence[str]:
    """Return the known types of the packages of an entry, at most MAX_KINDS."""
    kinds = [package.get("registryType") for package in entry.packages]
    return [kind for kind in PACKAGES if kind in kinds][:MAX_KINDS]


def card_tags(entry: Entry, language: str) -> Sequence[str]:
    """Return the tags of an entry that readers of a language can read and search for, at most MAX_TAGS.

    Tags that repeat another one or words of the title, or say that it is an MCP server, are left out.
    """
    known = GENERIC | name_parts(card_title(entry)[:MAX_NAME])
    labels: dict[str, str] = {}
    for tag in entry.tags[: 4 * MAX_TAGS]:
        # A shortened or cleaned label is not the tag.
        is_whole = plain(tag, 24) == tag and '"' not in tag
        if is_whole and _is_readable(tag, language) and not name_parts(tag) <= known:
            labels.setdefault(tag.casefold(), tag)
    return list(labels.values())[:MAX_TAGS]


@lru_cache(maxsize=4_096)
def _is_readable(label: str, language: str) -> bool:
    """Return whether a label has letters, and all of them are of a script of a language."""
    letters = [unicodedata.name(letter, "") for letter in label if letter.isalpha()]
    return bool(letters) and all(name.startswith(_SCRIPTS[language]) for name in letters)
