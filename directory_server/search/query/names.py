"""Name matches: entries whose name equals the query, begins with it, or is within an edit or two of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from attrs import evolve, frozen

from ..index.collection import Collection
from ..index.document import BARE_NAME, EXACT_NAME, FULL_NAME, SHORT_NAME, VENDOR_PRODUCT, phrase
from ..text.analysis import COMMON_PARTS, key
from .groups import TermGroup
from .parsing import ParsedQuery

EXACT_SHARES = {FULL_NAME: 3.0, BARE_NAME: 0.6, EXACT_NAME: 1.3, VENDOR_PRODUCT: 2.0}
"""The score of an exact match of each kind of name, as a share of the query weight."""

PREFIX_SHARE, PREFIX_COVERAGE_SHARE = 0.4, 1.2
"""The score of a name that begins with the query, as such a share; and the addition for a query that is all of it."""

LITERAL_COVERAGE_SHARE = 0.4
"""The addition for a name that begins with the query including its punctuation, times the share that was typed."""

KNOWN_WORD, KNOWN_SHARE = 20, 0.6
"""The entries with a word, from which it is mostly finished, and the share of such a score of longer names then."""

NAMESAKES = 5
"""Entries with one name, apart from COMMON_PARTS, from which it is that of a product."""

MIN_PREFIX = 1
"""Letters of the shortest query that matches a prefix of a name."""

FUZZY_SHARE = 0.6
"""The score of a name an edit or two from the query, as a share of the query weight."""

FUZZY_LENGTHS = range(3, 61)
"""Letters of a query that may be a misspelt name. A longer one is a sentence."""

MIN_TWO_EDITS = 9
"""Letters from which a misspelt name may have two edits."""

MAX_PREFIX_MATCHES = 256
"""Names that a prefix matches, the shortest first."""


@frozen
class QueryName:
    """A query as a name: its key, its key without COMMON_PARTS, and its text. `exact` are the terms of equal names.

    `is_product` is whether it is the name of a product, which several entries are for ("slack", "slack-mcp-server").
    """

    key: str
    bare: str
    literal: str
    is_complete: bool
    exact: Sequence[tuple[str, int]]
    is_product: bool


def query_name(query: ParsedQuery, collection: Collection) -> QueryName:
    """Return `query` as a name."""
    name, literal = key(query.words), phrase(query.text)
    bare = name if COMMON_PARTS.isdisjoint(query.parts) else key(query.words, without=COMMON_PARTS)
    # Most queries are new, so these look-ups are not cached.
    find = collection.vocabulary.find
    kinds = ((FULL_NAME, name), (BARE_NAME, bare), (EXACT_NAME, literal), (VENDOR_PRODUCT, bare))
    exact = [(kind, term) for kind, text in kinds if text and (term := find(kind + text)) is not None]
    exact = [(kind, term) for kind, term in exact if collection.document_frequency(term)]
    namesakes = {kind: collection.document_frequency(term) for kind, term in exact}
    # Punctuation is typed in the name of an entry ("slack-mcp").
    is_product = namesakes.get(BARE_NAME, 0) >= NAMESAKES and name == literal.replace(" ", "")
    return QueryName(name, bare, literal, query.is_complete, exact, is_product)


def without_common_parts(query: ParsedQuery) -> ParsedQuery:
    """Return `query` without words such as "mcp" and "server", if it has others."""
    words = [word for word in query.words if not COMMON_PARTS.issuperset(word.parts)]
    if not words or len(words) == len(query.words):
        return query
    return evolve(query, words=words, is_complete=query.is_complete or words[-1] is not query.words[-1])


def exact_name_matches(name: QueryName, query_weight: float) -> list[TermGroup]:
    """Return the groups of the names that equal the query.

    Of a product, only the vendor's own server has one: the others are found by the word, in the order of their priors.
    """
    exact = [pair for pair in name.exact if pair[0] == VENDOR_PRODUCT] if name.is_product else name.exact
    return [TermGroup(kind, {term: EXACT_SHARES[kind]}, query_weight) for kind, term in exact]


def prefix_name_matches(query: QueryName, collection: Collection, query_weight: float) -> Iterator[TermGroup]:
    """Yield the groups of the names that equal the query or, where it is unfinished, begin with it.

    There are none for a product: "slack-mcp" begins with it, "mcp-slack" does not.
    """
    if query.is_product:
        return
    name, literal = query.key, query.literal
    shares = PREFIX_SHARE, PREFIX_COVERAGE_SHARE
    if weights := _prefix_weights(SHORT_NAME + name, len(SHORT_NAME), *shares, query, collection):
        yield TermGroup(f"{name}…", weights, query_weight)
    shares = 0.0, LITERAL_COVERAGE_SHARE
    if name and (weights := _prefix_weights(EXACT_NAME + literal, len(EXACT_NAME), *shares, query, collection)):
        yield TermGroup(f"{literal}…", weights, query_weight)


def _prefix_weights(
    prefix: str, kind: int, least: float, more: float, query: QueryName, collection: Collection
) -> Mapping[int, float]:
    """Return the names that begin with `prefix`, whose first `kind` letters are the kind of name, and their weights."""
    whole = collection.vocabulary.find(prefix)
    is_known = whole is not None and collection.document_frequency(whole)
    weights: dict[int, float] = {whole: least + more} if whole is not None and is_known else {}
    if collection.word(query.key)[1] >= KNOWN_WORD:
        least, more = KNOWN_SHARE * least, KNOWN_SHARE * more
    for segment in collection.segments if len(prefix) - kind >= MIN_PREFIX and not query.is_complete else ():
        dictionary = segment.dictionary
        span = dictionary.prefix_range(prefix)
        if span.start == span.stop:
            continue
        places = np.flatnonzero(dictionary.counts[span]) + span.start
        terms, lengths = dictionary.terms[places], dictionary.lengths[places] - np.uint8(kind)
        if len(terms) > MAX_PREFIX_MATCHES:
            shortest = np.argpartition(lengths, MAX_PREFIX_MATCHES)[:MAX_PREFIX_MATCHES]
            terms, lengths = terms[shortest], lengths[shortest]
        shares = least + more * (len(prefix) - kind) / lengths
        weights.update(zip(terms.tolist(), shares.tolist(), strict=True))
    return weights


def fuzzy_name_matches(query: QueryName, collection: Collection, query_weight: float) -> Iterator[TermGroup]:
    """Yield the group of the names that the query misspells, if there are any.

    All its words may be known, as in a name that lacks the space between two of them.
    """
    name = query.key
    if len(name) not in FUZZY_LENGTHS or not name.isascii():
        return
    weights: dict[int, float] = {}
    for segment in collection.segments:
        dictionary = segment.dictionary
        for place, distance in dictionary.edit_matches(name, 1 if len(name) < MIN_TWO_EDITS else 2, SHORT_NAME):
            weights[int(dictionary.terms[place])] = FUZZY_SHARE * (1 - distance / len(name)) ** 2
    if weights:
        yield TermGroup(f"{name}, misspelt", weights, query_weight)
