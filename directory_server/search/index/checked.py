"""Documents with checks and flags, which change the filters, the prior and the terms of a document."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

import numpy as np
from attrs import evolve

from ...domain.changes import Change
from ...domain.checks import (
    MAX_KEYWORD,
    MAX_KEYWORDS,
    MAX_README,
    MAX_SUMMARY,
    MAX_TOOLS,
    IndexedVerification,
    PackageStatus,
    PackageTexts,
    VerifiedStatus,
    refined_auth,
)
from ...domain.ending_views import ENDED
from ...domain.facts import Fact
from ...domain.licenses import UNKNOWN
from ...domain.marks import kinds_of
from ...domain.namespaces import VERIFIED
from ...domain.notes import FORMER, NO_FLAG
from ...domain.tools import OfferedTool
from ...serialization import restore_entry, restore_indexed, restore_texts
from ..text import MAX_KEY
from .document import (
    DEPRECATED_PENALTY,
    DESCRIBED,
    NAMED,
    PUBLISHER_PRIOR,
    TOOL_NAMES,
    TOOL_TEXTS,
    WEIGHT,
    Document,
    build_document,
    name_terms,
    weighted_terms,
)
from .facets import facet, hinted_facts, list_terms, shown_tools, with_filters
from .fields import Field
from .packing import unpack
from .tools import HAS_TOOLS, decode_tools, encode_tools

PRIORS: Mapping[VerifiedStatus, float] = {
    VerifiedStatus.WORKS: 0.03,
    VerifiedStatus.NEEDS_LOGIN: 0.02,
    VerifiedStatus.AVAILABLE: 0.01,
    VerifiedStatus.FAILING: 0.0,
    VerifiedStatus.DOWN: -0.05,
    VerifiedStatus.UNVERIFIED: 0.0,
}
"""What the status of an entry adds to its prior. An entry that nobody has checked is not ranked lower."""

MARKED_PENALTY = 0.3
"""What an entry with flags loses of its prior: it comes after equal others, also those that are down and retired."""

PACKAGE_FIELDS = (
    Field(2, 15, 0.5, MAX_SUMMARY),  # summary
    Field(2, 6, 0.5, MAX_KEYWORDS * (MAX_KEYWORD + 1)),  # keywords
    Field(0.5, 150, 0.75, MAX_README),  # README
)

MAX_PACKAGE_WORDS = 128
"""Words of a package that its entries are found by, those of the greatest weight."""

MAX_PACKAGE_WEIGHT, MAX_README_WEIGHT = 2.0, 0.6
"""The greatest weight of a word of a package, and of its README. A word of a short description has about 3."""

_AUTH: Mapping[str, Fact] = {"none": Fact.NO_KEY, "key": Fact.KEY, "oauth": Fact.OAUTH}

_ANY_AUTH = Fact.NO_KEY | Fact.KEY | Fact.OAUTH | Fact.NO_SECRET_DECLARED


_SEPARATOR = re.compile(r"[-_./+]|(?<=[a-z])(?=[A-Z])")
"""What separates the parts of a name."""

_UNCHECKED = IndexedVerification(VerifiedStatus.UNVERIFIED)


def document_of(change: Change) -> Document | None:
    """Return the document of the entry of `change`, with what checks have found; None if it was removed."""
    if change.analysed is None:
        return None
    found = _UNCHECKED if change.verified is None else restore_indexed(change.verified)
    accepted, document = change.accepted, unpack(change.analysed)
    if accepted and change.body is not None:
        document = build_document(restore_entry(change.body), accepted)
    tools, kinds = shown_tools(found, accepted)
    document = _checked(document, change, found, kinds)
    if change.texts is not None:
        document = _with_words(document, package_words(restore_texts(change.texts)))
    return _with_tools(document, tools) if tools else document


def _checked(document: Document, change: Change, found: IndexedVerification, kinds: Collection[str]) -> Document:
    """Return `document` with flags and lists, and with what checks have found. `kinds` are those of marks of tools."""
    row, hit, prior = document.row, document.row.hit, document.row.prior
    flags, auth = kinds_of([*hit.flags, *change.flags, *kinds]), refined_auth(hit.auth, found.auth)
    facts = hinted_facts(row.facts, found.hinted)
    is_verified, is_retired = (
        facet(name, value) in document.special_terms for name, value in (("publisher", VERIFIED), ("retired", "true"))
    )
    filters: dict[str, Collection[str]] = {"status": (found.status,), "flag": flags or (NO_FLAG,)}
    if found.names_server and not is_verified:
        is_verified, prior, filters["publisher"] = True, prior + PUBLISHER_PRIOR, (VERIFIED,)
    ending = change.ending
    if ending is not None:
        filters["ending"] = (ending.state,)
    has_ended = found.package == PackageStatus.DEPRECATED or (ending is not None and ending.state in ENDED)
    if has_ended and not is_retired:
        is_retired, prior, filters["retired"] = True, prior - DEPRECATED_PENALTY, ("true",)
    if auth != hit.auth:
        facts, filters["auth"] = facts & ~int(_ANY_AUTH) | int(_AUTH[auth]), (auth,)
    if found.tools:
        filters["tools"] = found.hinted
    hit = evolve(
        hit,
        auth=auth,
        verified=found.status.value,
        flags=flags,
        publisher=VERIFIED if is_verified else UNKNOWN,
        retired=is_retired,
        tool_hints=found.hinted,
        ends=None if ending is None else ending.view(),
    )
    prior += PRIORS[found.status]
    former = [term for note in change.notes if note.kind == FORMER for term in name_terms(note.other[:MAX_KEY])]
    terms = with_filters([*document.special_terms, *list_terms(change.lists), *former], filters)
    row = evolve(row, hit=hit, prior=prior - MARKED_PENALTY if flags else prior, facts=facts)
    return evolve(document, row=row, special_terms=sorted(terms))


def package_words(texts: PackageTexts) -> Mapping[str, float]:
    """Return the terms of the texts of a package with their weights, at most MAX_PACKAGE_WORDS.

    Weights are normalised by the length of a text and bounded, so a long text and repeated words gain little.
    """
    readme, others = dict[str, float](), dict[str, float]()
    parts = (others, texts.summary), (others, "\n".join(texts.keywords)), (readme, texts.readme)
    for field, (weights, text) in zip(PACKAGE_FIELDS, parts, strict=True):
        field.add_weights(weights, text)
    for term, weight in readme.items():
        others[term] = others.get(term, 0.0) + min(weight, MAX_README_WEIGHT)
    first = sorted(others.items(), key=lambda pair: -pair[1])[:MAX_PACKAGE_WORDS]
    return {term: min(weight, MAX_PACKAGE_WEIGHT) for term, weight in first}


def _with_tools(document: Document, tools: Sequence[OfferedTool]) -> Document:
    """Return `document` with the words of the tools that its remotes listed.

    A word counts as much as in the tools that publishers declare.
    """
    first = tools[:MAX_TOOLS]
    weights: dict[str, float] = {}
    names = [tool.name for tool in first]
    # Of further names only the parts, not the joined name too: an entry has at most MAX_WORDS terms.
    names += [_SEPARATOR.sub(" ", tool.name) for tool in tools[MAX_TOOLS:]]
    TOOL_NAMES.add_weights(weights, "\n".join(names))
    TOOL_TEXTS.add_weights(weights, "\n".join(tool.description for tool in first))
    listed = {tool.name for tool in first}
    others = (tool for tool in decode_tools(document.row.tools) if tool.name not in listed)
    return evolve(
        _with_words(document, weights),
        row=evolve(document.row, tools=encode_tools([*first, *others])),
        special_terms=sorted({*document.special_terms, HAS_TOOLS}),
    )


def _with_words(document: Document, weights: Mapping[str, float]) -> Document:
    """Return `document` with further terms and their `weights`; a term that it has keeps the greater weight."""
    stored = dict(zip(document.terms, np.frombuffer(document.weights, WEIGHT).tolist(), strict=True))
    named, described = (
        {term for term, flags in zip(document.terms, document.flags, strict=True) if flags & flag}
        for flag in (NAMED, DESCRIBED)
    )
    stored |= {term: max(stored.get(term, 0.0), weight) for term, weight in weights.items()}
    terms, packed, flags = weighted_terms(stored, named, described)
    return evolve(document, terms=terms, weights=packed, flags=flags)
