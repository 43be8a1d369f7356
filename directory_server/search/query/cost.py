"""Estimates of the cost of a search, before and after it is planned."""

from __future__ import annotations

from ...domain.search import Query
from ..index import arrays
from ..index.collection import Collection
from .parsing import ParsedQuery
from .plan import Plan
from .stop_words import STOP_WORDS
from .terms import MIN_KNOWN

SMALL = 50_000
"""Documents of a collection in which no search by words takes 10 ms."""

MAX_POSTINGS = 2_000_000 if arrays.engine is not None else 250_000
"""Postings, or words that are compared, before the plan of a search takes about 5 ms."""

MAX_SCORED = 150_000 if arrays.engine is not None else 50_000
"""Postings of a plan whose documents are scored in about 5 ms."""

LARGE = 300_000
"""Documents of a collection in which any search may take 10 ms. Feedback may read more than MAX_SCORED postings: its
terms are those of the first hits, so the plan does not have them."""

MAX_TEXTS = 3_000
"""Documents whose texts are searched for phrases in about 5 ms."""


BROWSED = 1_000
"""Documents of a collection from which queries to browse run in a thread. They take 1 to 5 ms for 25,984 documents, and
the page with their hits takes as long again in the same turn of the reactor."""


def is_expensive(query: Query, parsed: ParsedQuery, collection: Collection) -> bool:
    """Return whether the plan of a search for `query`, of which `parsed` are the words, may take more than about 5 ms.

    Also return True if it is known before the plan that the search takes more than 10 ms.
    """
    size = collection.size
    if size > LARGE or (query.browse and size > BROWSED):
        return True
    if parsed.phrases and (query.sort != "relevance" or not _tokens(parsed)):
        # No word narrows the documents down, as in "to be or not to be": the phrases are looked for in all texts. They
        # are, too, in all matches that are sorted.
        return size > MAX_TEXTS
    if query.after is not None and not parsed.words:
        # Thousands of entries without stars have equal scores, and their names are compared.
        return size > MAX_TEXTS
    return size > SMALL and _postings(parsed, collection) > MAX_POSTINGS


def is_expensive_plan(plan: Plan, collection: Collection) -> bool:
    """Return whether the documents of a plan may take more than about 5 ms to score."""
    if collection.size <= SMALL:
        return False
    groups = [*plan.groups, *(group for concept in plan.concepts for group in concept.terms)]
    return sum(sum(collection.document_frequencies(group.terms)) for group in groups) > MAX_SCORED


def _tokens(query: ParsedQuery) -> list[str]:
    return [token for word in query.words for token in word.tokens if token not in STOP_WORDS]


def _postings(query: ParsedQuery, collection: Collection) -> float:
    """Return about how many postings of its own words a search reads. A word that is compared counts as a posting."""
    size = collection.size
    # Filters without words match all documents.
    total = 0 if query.words else size * (1 + sum(map(len, query.required)) + len(query.excluded))
    tokens = _tokens(query)
    for token in tokens:
        _, frequency = collection.word(token)
        total += frequency if frequency >= MIN_KNOWN else size
    if tokens and not query.is_complete:
        for segment in collection.segments:
            total += int(segment.dictionary.counts[segment.dictionary.prefix_range(tokens[-1])].sum())
    return total
