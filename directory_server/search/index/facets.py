"""Facets: the special terms of the entries that filters match."""

from __future__ import annotations

from functools import lru_cache

from ..text.analysis import MAX_KEY, MAX_TOKEN, fold, key, words

FACET = "\0"
"""The prefix of the special term of a filter value."""


def facet(name: str, value: str) -> str:
    """Return the special term of the entries that match the filter `name:value`."""
    return _facet(name, value[:MAX_KEY])


# Most entries share a few values. The cache takes at most about 8 MB.
@lru_cache(maxsize=8_192)
def _facet(name: str, value: str) -> str:
    # The punctuation of namespaces tells owners apart: io.github.acme-labs is not io.github.acmelabs.
    folded = fold(value).lower() if name == "namespace" else key(words(value, humps=False))
    return f"{FACET}{name}:{folded[:MAX_TOKEN]}"
