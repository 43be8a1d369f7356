"""Titles of entries: the publisher's, or one that is derived from the registered name."""

from __future__ import annotations

import re
from collections.abc import Mapping

from .namespaces import GENERIC, SHARED_NAMESPACES, account_of
from .vocabulary import read_vocabulary

MAX_PARTS = 12
"""Words of a derived title."""

_WORDS = re.compile(
    r"(?:[A-Z]+(?![a-z])|[A-Z]?[a-z]+|(?=[0-9]))(?:[0-9]+(?:[a-z]+|[A-Z]+(?![a-z]))?)*(?<=[^\W_])|[^\W\d_a-zA-Z]+"
)
"""Words of a name: "BrowserMCP" has two, "s3" and "i18n" are one each."""

_TRAILING_MCP = re.compile(r"(?<=[a-z]{3})mcp$|^mcp(?=[a-z]{3})", re.IGNORECASE)
"""The letters in front of or behind a name that is written as one word with them."""

_VOCABULARY = read_vocabulary("titles")

_SPELLINGS: Mapping[str, str] = {word.casefold(): word for word in _VOCABULARY["spelt"].split()}
"""Usual spellings of words that are not only capitalised."""

_SMALL = frozenset(_VOCABULARY["small"].split())
"""Words that have a capital only at the beginning."""

_WEAK = frozenset(_VOCABULARY["weak"].split())
"""Words that say what a product is, and not which: alone, they follow the owner."""

_EMPTY = GENERIC | {*_VOCABULARY["empty"].split()}
"""Words that say nothing beside the owner."""


def display_title(title: str, name: str) -> str:
    """Return the title of an entry for people: `title`, or one derived from the registered `name` if it says nothing.

    A title says nothing if it is empty, is an identifier (`acme/weather-mcp`), repeats the last part of `name` with its
    hyphens, or has only words such as "MCP server".
    """
    title = title.strip()
    if title and not _is_identifier(title, name) and not _is_generic(title):
        return title
    return _derived_title(name) or title or name


def _is_identifier(title: str, name: str) -> bool:
    """Return whether a title is a name with an owner, or that of the server, which no reader would write."""
    if any(map(str.isspace, title)):
        return False
    is_repeated = title.casefold() == name.rpartition("/")[2].casefold()
    return "/" in title or (is_repeated and ("-" in title or "_" in title))


def _is_generic(title: str) -> bool:
    return {*re.findall(r"[^\W_]+", title.casefold())} <= GENERIC


def _derived_title(name: str) -> str:
    """Return a title from the last part of a registered name, with its owner if that part names no product."""
    namespace, _, short = name.rpartition("/")
    words = [word for word in _WORDS.findall(short[:200]) if word.casefold() not in GENERIC]
    folded = [word.casefold() for word in words]
    is_unclear = len(words) == 1 and len(words[0]) <= 2 and words[0].isascii()
    if namespace and not name.startswith(SHARED_NAMESPACES) and (is_unclear or {*folded} <= _WEAK | _EMPTY):
        owner = _owner(namespace)
        beside = [word.upper() if is_unclear else word for word in words if word.casefold() not in _EMPTY]
        # The owner is the product: "MCP" tells it from the company.
        product = [word for word in _WORDS.findall(_TRAILING_MCP.sub("", owner)) if word.casefold() not in GENERIC]
        words = [*product, *(beside or ["MCP"])] if _WORDS.search(owner) else words
    return " ".join(_spelling(word, is_first=not number) for number, word in enumerate(words[:MAX_PARTS]))


def _owner(namespace: str) -> str:
    """Return the account at a code host, else the label of a domain beside the top-level one."""
    account = account_of(namespace)
    return account if account is not None else namespace.split(".")[1] if "." in namespace else namespace


def _spelling(word: str, *, is_first: bool) -> str:
    folded = word.casefold()
    if folded in _SPELLINGS:
        return _SPELLINGS[folded]
    if folded in _SMALL and not is_first:
        return folded
    # A word without vowels is an abbreviation, and so are two letters with a digit: "PDF", "GCP", "EC2".
    is_numbered = word[0].isalpha() and not word.isalpha() and sum(map(str.isalpha, word)) <= 2
    is_abbreviation = len(word) <= 4 and (is_numbered or (word.isalpha() and not set(folded) & set("aeiouy")))
    return word.upper() if is_abbreviation and word.isascii() else word if word[:1].isupper() else word.capitalize()
