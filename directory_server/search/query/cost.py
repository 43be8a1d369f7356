"""Estimates of the cost of a search, before it is planned."""

from __future__ import annotations

from ...domain.search import Query
from ..index import arrays
from ..index.collection import Collection
from .parsing import ParsedQuery
from .stop_words import STOP_WORDS
from .terms import MIN_KNOWN

SMALL = 50_000
"""Documents of a collection in which no search by words takes 10 ms."""

FEEDBACK_SHARE = 0.3
"""Postings of the terms that feedback adds, as a share of the documents. Measured on real entries: .26 for half of the
queries."""

MAX_POSTINGS = 2_000_000 if arrays.kernel is not None else 250_000
"""Postings of a search that takes about 5 ms."""


MAX_TEXTS = 3_000
"""Documents whose texts are searched for phrases in about 5 ms."""


def is_expensive(query: Query, parsed: ParsedQuery, collection: Collection) -> bool:
    """Return whether a search for `query`, of which `parsed` are the words, may take more than about 10 ms."""
    size = collection.size
    if parsed.phrases and (query.browse or query.sort != "relevance" or not _tokens(parsed)):
        # No word narrows the documents down, as in "to be or not to be": the phrases are looked for in all texts. They
        # are, too, in all matches that are counted or sorted.
        return size > MAX_TEXTS
    if query.after is not None and not parsed.words:
        # Thousands of entries without stars have equal scores, and their names are compared.
        return size > MAX_TEXTS
    return size > SMALL and (query.browse or _postings(parsed, collection) > MAX_POSTINGS)


def _tokens(query: ParsedQuery) -> list[str]:
    return [token for word in query.words for token in word.tokens if token not in STOP_WORDS]


def _postings(query: ParsedQuery, collection: Collection) -> float:
    """Return about how many postings a search reads. A word of a dictionary that is compared counts as a posting."""
    size = collection.size
    # Filters without words match all documents.
    total = size * FEEDBACK_SHARE if query.words else size * (1 + len(query.required) + len(query.excluded))
    tokens = _tokens(query)
    for token in tokens:
        term = collection.term(token)
        frequency = collection.document_frequency(term) if term is not None else 0
        total += frequency if frequency >= MIN_KNOWN else size
    if tokens and not query.is_complete:
        for segment in collection.segments:
            total += int(segment.dictionary.counts[segment.dictionary.prefix_range(tokens[-1])].sum())
    return total
