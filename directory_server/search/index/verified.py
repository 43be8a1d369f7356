"""Documents with verifications and flags, which change the filters, the prior and the words of a document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import chain

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
from ...domain.facts import Fact
from ...domain.licenses import UNKNOWN
from ...domain.marks import kinds_of
from ...domain.namespaces import VERIFIED
from ...serialization import restore_entry, restore_indexed, restore_texts
from ..text.analysis import tokens, words
from .bm25 import Field
from .document import (
    DEPRECATED_PENALTY,
    FIELDS,
    PUBLISHER_PRIOR,
    WEIGHT,
    Document,
    build_document,
    positions,
    top_words,
)
from .facets import checked_terms, facet, flag_terms, hinted_facts, list_terms, shown_tools
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

_TOOL_NAMES, _TOOL_DESCRIPTIONS = FIELDS[5:7]

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


def document_of(change: Change) -> Document | None:
    """Return the document of the entry of `change`, with what checks have found; None if it was removed."""
    if change.analysed is None:
        return None
    verification = None if change.verified is None else restore_indexed(change.verified)
    accepted, document = change.accepted.split(), unpack(change.analysed)
    if accepted and change.body is not None:
        document = build_document(restore_entry(change.body), accepted)
    document = _flagged(document, change.flags)
    if change.lists:
        document = evolve(document, special_terms=[*document.special_terms, *list_terms(change.lists)])
    document = _published(document, verification)
    if change.texts is not None:
        document = _with_words(document, package_words(restore_texts(change.texts)))
    if verification is None:
        terms = {*document.special_terms, facet("status", VerifiedStatus.UNVERIFIED)}
        document = evolve(document, special_terms=sorted(terms))
    else:
        document = _verified(document, verification, accepted)
    row = document.row
    return evolve(document, row=evolve(row, prior=row.prior - MARKED_PENALTY)) if row.hit.flags else document


def _published(document: Document, found: IndexedVerification | None) -> Document:
    """Return `document` with what the entry and its package say about the publisher and the maintenance."""
    row, terms, prior = document.row, {*document.special_terms}, document.row.prior
    is_verified, is_retired = facet("publisher", VERIFIED) in terms, facet("retired", "true") in terms
    if found is not None and found.names_server and not is_verified:
        is_verified, prior = True, prior + PUBLISHER_PRIOR
        terms = terms - {facet("publisher", UNKNOWN)} | {facet("publisher", VERIFIED)}
    if found is not None and found.package == PackageStatus.DEPRECATED and not is_retired:
        is_retired, prior = True, prior - DEPRECATED_PENALTY
        terms = terms - {facet("retired", "false")} | {facet("retired", "true")}
    hit = evolve(row.hit, publisher=VERIFIED if is_verified else UNKNOWN, retired=is_retired)
    return evolve(document, row=evolve(row, hit=hit, prior=prior), special_terms=sorted(terms))


def _flagged(document: Document, kinds: Sequence[str]) -> Document:
    row = document.row
    flags = kinds_of([*row.hit.flags, *kinds])
    if kinds:
        row = evolve(row, hit=evolve(row.hit, flags=flags))
    return evolve(document, row=row, special_terms=sorted({*document.special_terms, *flag_terms(flags)}))


def package_words(texts: PackageTexts) -> Mapping[str, float]:
    """Return the words of the texts of a package with their weights, at most MAX_PACKAGE_WORDS.

    Weights are normalised by the length of a text and bounded, so a long text and repeated words gain little.
    """
    readme, others = dict[str, float](), dict[str, float]()
    parts = (others, texts.summary), (others, "\n".join(texts.keywords)), (readme, texts.readme)
    for field, (weights, text) in zip(PACKAGE_FIELDS, parts, strict=True):
        _count(weights, field, tokens(text[: field.max_characters], humps=field.is_name))
    for word, weight in readme.items():
        others[word] = others.get(word, 0.0) + min(weight, MAX_README_WEIGHT)
    first = sorted(others.items(), key=lambda item: -item[1])[:MAX_PACKAGE_WORDS]
    return {word: min(weight, MAX_PACKAGE_WEIGHT) for word, weight in first}


def _count(weights: dict[str, float], field: Field, found: Sequence[str]) -> None:
    """Add to `weights` those of the words of a field."""
    weight = field.term_weight(len(found))
    for word, count in Counter(found).items():
        weights[word] = weights.get(word, 0.0) + weight * count


def _verified(document: Document, found: IndexedVerification, accepted: Collection[str]) -> Document:
    row = document.row
    tools, kinds = shown_tools(found, accepted)
    verification, flags = evolve(found, tools=tools), kinds_of([*row.hit.flags, *kinds])
    auth = refined_auth(row.hit.auth, verification.auth)
    terms = {*document.special_terms, facet("status", verification.status)}
    terms, facts = {*checked_terms(terms, found, flags)}, hinted_facts(row.facts, found.hinted)
    if auth != row.hit.auth:
        terms = terms - {facet("auth", row.hit.auth)} | {facet("auth", auth)}
        facts = facts & ~int(_ANY_AUTH) | int(_AUTH[auth])
    hit = evolve(row.hit, auth=auth, verified=verification.status.value, flags=flags, tool_hints=found.hinted)
    row = evolve(row, hit=hit, prior=row.prior + PRIORS[verification.status], facts=facts)
    document = evolve(document, row=row, special_terms=sorted(terms))
    return _with_tools(document, verification) if verification.tools else document


def _with_tools(document: Document, verification: IndexedVerification) -> Document:
    """Return `document` with the words of the tools that its remotes listed.

    A word counts as much as in the tools that publishers declare.
    """
    first = verification.tools[:MAX_TOOLS]
    texts = (
        (_TOOL_NAMES, "\n".join(tool.name for tool in first)),
        (_TOOL_DESCRIPTIONS, "\n".join(tool.description for tool in first)),
    )
    counted = {field: tokens(text[: field.max_characters], humps=field.is_name) for field, text in texts}
    # Of further names only the parts, not the joined name too: an entry has at most MAX_WORDS words.
    further = "\n".join(tool.name for tool in verification.tools[MAX_TOOLS:])[: _TOOL_NAMES.max_characters]
    counted[_TOOL_NAMES] += chain.from_iterable(word.tokens for word in words(further, humps=True))
    found: dict[str, float] = {}
    for field, every_word in counted.items():
        _count(found, field, every_word)
    listed = {tool.name for tool in first}
    others = (tool for tool in decode_tools(document.row.tools) if tool.name not in listed)
    return evolve(
        _with_words(document, found),
        row=evolve(document.row, tools=encode_tools([*first, *others])),
        special_terms=sorted({*document.special_terms, HAS_TOOLS}),
    )


def _with_words(document: Document, found: Mapping[str, float]) -> Document:
    """Return `document` with the words `found` and their weights; a word that it has keeps the greater weight."""
    weights = dict(zip(document.words.split(), np.frombuffer(document.weights, WEIGHT).tolist(), strict=True))
    every = list(weights)
    of_description = {every[position] for position in document.described}
    for word, weight in found.items():
        weights[word] = max(weights.get(word, 0.0), weight)
    weights, named = top_words(weights, document.named)
    packed = np.fromiter(weights.values(), WEIGHT, len(weights)).tobytes()
    described = positions(of_description, weights)
    return evolve(document, words=" ".join(weights), weights=packed, named=named, described=described)
