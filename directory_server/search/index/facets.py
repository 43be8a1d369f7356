"""Facets: the special terms of the entries that filters match."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

from ...domain.facts import Facts, auth_of, is_configurable, is_vendors_own, runs_of
from ...domain.licenses import UNKNOWN
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


def list_terms(lists: Iterable[str]) -> list[str]:
    """Return the special terms of the entries in `lists`. No search words have them."""
    return [f"{FACET}\0{name}" for name in sorted(lists)]


def fact_terms(facts: Facts) -> Iterator[str]:
    """Yield the special terms of the filters by facts that an entry matches."""
    return (facet(name, value) for name, value in _fact_filters(facts))


def _fact_filters(facts: Facts) -> Iterator[tuple[str, str]]:
    """Yield the names and values of the filters by facts that an entry matches."""
    bits = facts.bits
    yield "auth", auth_of(bits)
    yield from (("runs", each) for each in runs_of(bits) or (UNKNOWN,))
    yield from (("language", each) for each in facts.languages or (UNKNOWN,))
    yield "license", facts.license
    if is_vendors_own(bits):
        yield "vendor", "true"
    if is_configurable(bits):
        yield "installable", "true"
