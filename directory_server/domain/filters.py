"""Filters in search words, such as `runs:local`: their names and the values that they allow."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from attrs import frozen

from .errors import BadInput
from .facts import LICENSES, UNKNOWN, license_of
from .languages import LANGUAGES, language_of

FILTERS: Mapping[str, Sequence[str]] = {
    "tag": (),
    "transport": ("stdio", "http", "sse"),
    "package": (),
    "official": ("true", "false"),
    "auth": ("none", "key", "oauth", UNKNOWN),
    "runs": ("local", "remote", UNKNOWN),
    "language": (*LANGUAGES, UNKNOWN),
    "license": (*LICENSES, UNKNOWN),
}
"""The names of filters, and the values of each; none for those with any value. Other words with a colon are text."""

PIECE = re.compile(
    rf"""(?<!\S)-(?P<excluded>\w\S*) | (?<!\S)(?P<filter>{"|".join(FILTERS)}):(?P<value>"[^"]+"|[^\s"]+)"""
    r""" | "(?P<phrase>[^"]+)" """,
    re.VERBOSE | re.IGNORECASE,
)
"""What is not a word in search words: an exclusion, a filter, or an exact phrase."""


@frozen
class WrongFilter:
    """A filter with a value that it does not allow."""

    name: str
    value: str

    @property
    def allowed(self) -> Sequence[str]:
        """The values that the filter allows."""
        return FILTERS[self.name]


def filter_value(name: str, value: str) -> str:
    """Return the value of a filter in its canonical form: `rust` for `Rust`, `csharp` for `c#`."""
    value = value.strip('"')
    folded = value.casefold()
    if name == "language":
        return language_of(folded) or folded
    if name == "license" and folded not in FILTERS[name]:
        known = license_of(folded)
        return folded if known in ("other", UNKNOWN) else known
    if name == "transport":
        return folded.removeprefix("streamable-")
    return folded if FILTERS[name] else value


def wrong_filter(keywords: str) -> WrongFilter | None:
    """Return the first filter in `keywords` with a value that it does not allow, None if there is none."""
    for piece in PIECE.finditer(keywords):
        if piece["filter"]:
            name = piece["filter"].lower()
            if FILTERS[name] and filter_value(name, piece["value"]) not in FILTERS[name]:
                return WrongFilter(name, piece["value"].strip('"')[:50])
    return None


def check_filters(keywords: str) -> None:
    """Raise BadInput if a filter in `keywords` has a value that it does not allow."""
    wrong = wrong_filter(keywords)
    if wrong is not None:
        *others, last = wrong.allowed
        raise BadInput(f"keywords: {wrong.name}: must be {', '.join(others)} or {last}, not {wrong.value!r}.")
