"""Special terms of conversions: what an entry converts, and to what (see `text.conversions`)."""

from __future__ import annotations

from collections.abc import Iterable

from ..text.analysis import MAX_KEY
from ..text.conversions import conversions

CONVERSION = "\0into:"
"""The prefix of the terms."""

MAX_TEXT = 4_000
"""Characters of a text in which conversions are looked for."""

MAX_CONVERSIONS = 64
"""Conversions of an entry that are searched. One of 25,984 real entries has more."""


def conversion_terms(names: Iterable[str], texts: Iterable[str]) -> list[str]:
    """Return the special terms of the conversions that the `names` and `texts` of an entry state."""
    found = conversions("\n".join(names), is_name=True).union(*(conversions(text[:MAX_TEXT]) for text in texts))
    return sorted(conversion_term(*pair) for pair in found)[:MAX_CONVERSIONS]


def conversion_term(source: str, target: str) -> str:
    """Return the special term of the conversion of `source` to `target`."""
    return f"{CONVERSION}{source} {target}"[:MAX_KEY]
