"""Marks and hints of tools in documents: filters, the prior, facts, and texts that are withheld."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Set

from ...domain.checks import IndexedVerification
from ...domain.facts import Fact
from ...domain.filters import FILTERS
from ...domain.flags import NO_FLAG
from ...domain.marks import WITHHELD, is_withheld
from ...domain.tools import OfferedTool
from .facets import facet


def shown_tools(
    found: IndexedVerification, accepted: Collection[str]
) -> tuple[tuple[OfferedTool, ...], Collection[str]]:
    """Return the tools that remotes listed, without texts that have marks, and the kinds of these marks."""
    marks = [(name, kind) for name, kind, mark in found.marks if mark not in accepted]
    names = {name for name, kind in marks if is_withheld(kind)}
    tools = (
        OfferedTool(tool.name, description=WITHHELD, hints=tool.hints) if tool.name in names else tool
        for tool in found.tools
    )
    return tuple(tools), {kind for _, kind in marks}


def flag_terms(flags: Collection[str]) -> Iterable[str]:
    """Return the special terms of an entry with marks of the kinds `flags`."""
    return [facet("flag", flag) for flag in flags or (NO_FLAG,)]


def hint_terms(hinted: Iterable[str]) -> Iterable[str]:
    """Return the special terms of an entry whose tools have the values `hinted` of the filter `tools`."""
    return [facet("tools", value) for value in hinted]


def checked_terms(terms: Set[str], found: IndexedVerification, flags: Collection[str]) -> Set[str]:
    """Return the special terms of a document with those of its marks, and of the hints that remotes gave."""
    terms = terms - {*flag_terms(())} | {*flag_terms(flags)}
    return terms - {*hint_terms(FILTERS["tools"])} | {*hint_terms(found.hinted)} if found.tools else terms


def hinted_facts(facts: int, hinted: Collection[str]) -> int:
    """Return `facts` with what the hints of the tools say, which go before the words of the publisher."""
    if "read-only" in hinted:
        return facts & ~int(Fact.WRITES) | int(Fact.READ_ONLY)
    return facts & ~int(Fact.READ_ONLY) | int(Fact.WRITES) if "may-delete" in hinted else facts
