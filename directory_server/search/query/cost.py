"""The cost of a search: estimates before and after it is planned, and what keeps it low.

Long texts are condensed to the part that is searched for, such as the request in a conversation. The tables of words
are loaded by the first search.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain, islice

from ...domain.filters import PIECE
from ...domain.search import Query
from ..index import arrays
from ..index.collection import Collection
from ..text.analysis import fold, stem, words
from ..text.thesaurus import thesaurus
from ..text.translation_tables import translations
from ..text.word_vectors import word_vectors
from .conditions import conditions
from .exclusions import GENERAL_STEMS, STOP_WORDS
from .parsing import ParsedQuery, topic
from .plan import Plan
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


_TABLES = thesaurus, translations, conditions, word_vectors


def load_tables() -> None:
    """Load all tables. It takes about 0.4 seconds of processor time, and must not run in the reactor's thread."""
    for table in _TABLES:
        table()


def are_loaded() -> bool:
    """Return whether `load_tables` returns at once."""
    return all(table.is_computed for table in _TABLES)


MAX_LENGTH = 256
"""Characters of keywords that are searched for as they are, and of what is kept of longer ones."""

MAX_PART = 120
"""Characters of a part of a sentence, which is kept or left out as a whole."""

MIN_PART = 10
"""Characters of a sentence that is a part of its own."""

MAX_TOKENS = 20
"""Words of a part that are weighed, and pairs of characters of scripts without spaces."""

SHARE = 0.8
"""The least weight of a part that is kept, relative to the greatest."""

SMOOTHING = 1
"""Words that are added to those of a part before its weight is divided by them: a short part is less certain."""

TYPICAL_SHARE = 0.01
"""The share of the entries that have a word which gets half of its rarity as weight."""

LEAST_WEIGHT = 1.0
"""The weight of a word that few entries or none have: a name, or a word that is not about servers."""

CONCEPT_WEIGHT = 2.0
"""The weight that a word gains if it asks for a concept."""

_END = re.compile(r"[.!?;…]+(?=\s|$)|[。！？；।؟\n]|(?<=\s)[-–—*•](?=\s)")
"""The end of a sentence, or of an item of a list."""


def condensed(keywords: str, collection: Collection) -> str:
    """Return short `keywords` unchanged; of longer ones the filters, and the sentences that tell most about servers.

    The result has at most MAX_LENGTH characters. Exclusions are left out: a long text has hyphens of other meanings.
    """
    if len(keywords) <= MAX_LENGTH:
        return keywords
    filters = " ".join(piece[0] for piece in PIECE.finditer(keywords) if piece["filter"])[:MAX_LENGTH]
    # A repeated part tells nothing more.
    parts = [*dict.fromkeys(_parts(topic(keywords)))]
    weights = [_weight(part, collection) for part in parts]
    least, left = SHARE * max(weights, default=0.0), MAX_LENGTH - len(filters)
    kept = []
    for number in sorted(range(len(parts)), key=lambda number: (-weights[number], number)):
        # Each part is followed by a full stop and a space: the last word is no beginning of another.
        if weights[number] >= least and len(parts[number]) + 2 <= left:
            kept.append(number)
            left -= len(parts[number]) + 2
    return "".join((*(f"{parts[number]}. " for number in sorted(kept)), filters))


def _parts(text: str) -> Iterator[str]:
    """Yield the sentences of `text`, long ones in parts, and short ones together."""
    part = ""
    for sentence in _END.split(text):
        pieces = (word[at : at + MAX_PART] for word in sentence.split() for at in range(0, len(word), MAX_PART))
        for piece in pieces:
            if part and len(part) + 1 + len(piece) > MAX_PART:
                yield part
                part = ""
            part = f"{part} {piece}" if part else piece
        if len(part) >= MIN_PART:
            yield part
            part = ""
    if part:
        yield part


def _weight(part: str, collection: Collection) -> float:
    """Return the mean weight of the distinct words of a part."""
    # Folding may expand a character to 18.
    found = words(fold(part)[:MAX_PART], humps=True)[:MAX_TOKENS]
    tokens = [*islice(dict.fromkeys(chain.from_iterable(word.tokens for word in found)), MAX_TOKENS)]
    asking = {word for match in collection.thesaurus.matches(found) for word in match.stems | match.pieces}
    total = sum(_word_weight(token, collection) for token in tokens) + CONCEPT_WEIGHT * len(asking - STOP_WORDS)
    return total / (len(tokens) + SMOOTHING)


def _word_weight(token: str, collection: Collection) -> float:
    """Return the rarity of a word, and less for one that few entries have."""
    if token in STOP_WORDS or stem(token) in GENERAL_STEMS:
        return 0.0
    frequency = collection.word(token)[1]
    typical = frequency / (frequency + TYPICAL_SHARE * collection.size) if frequency else 0.0
    return max(typical * collection.idf(frequency), LEAST_WEIGHT)
