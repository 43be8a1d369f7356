"""The cost of a search: estimates before and after it is planned.

The first search loads the tables of words.
"""

from __future__ import annotations

from ...domain.search import Query
from ..index.view import View
from ..tables.conditions import conditions
from ..tables.lexicon import lexicon, near_english
from ..tables.stop_words import STOP_WORDS
from ..tables.thesaurus import thesaurus
from ..tables.word_vectors import word_vectors
from ..text import stem
from .parsing import ParsedQuery
from .rows import MIN_KNOWN, Plan

SMALL = 50_000
"""Documents of a view in which no search by words takes 10 ms."""

MAX_STRINGS = 400_000
"""Strings that a rare word is compared with in about 5 ms."""

MAX_POSTINGS = 150_000
"""Postings of a plan whose documents are scored in about 5 ms."""

LARGE = 300_000
"""Documents of a view in which any search may take 10 ms."""

MAX_TEXTS = 3_000
"""Documents whose texts are searched for phrases in about 5 ms."""

BROWSED = 1_000
"""Documents of a view from which queries to browse run in a thread. They take 1 to 5 ms for 25,984 documents, and the
page with their hits takes as long again in the same turn of the reactor."""

_TABLES = thesaurus, lexicon, near_english, conditions, word_vectors


def load_tables() -> None:
    """Load all tables. It takes about 0.4 seconds of processor time, and must not run in the reactor's thread."""
    for table in _TABLES:
        table()


def are_loaded() -> bool:
    """Return whether `load_tables` returns at once."""
    return all(table.is_computed for table in _TABLES)


def is_expensive(query: Query, parsed: ParsedQuery, view: View) -> bool:
    """Return whether the plan of a search for `query`, of which `parsed` are the words, may take more than about 5 ms.

    Also return True if it is known before the plan that the search takes more than 10 ms.
    """
    size = len(view.boosts)
    if size > LARGE or (query.browse and size > BROWSED):
        return True
    words = [word for word in parsed.spaced if word not in STOP_WORDS]
    if words and not all(segment.has_near_words for segment in view.segments):
        return True
    if (parsed.phrases and not words) or ((query.after is not None or parsed.phrases) and not parsed.runs):
        return size > MAX_TEXTS
    if size <= SMALL:
        return False
    rare = sum(count < MIN_KNOWN for count in view.frequencies([*map(stem, words)]))
    strings = sum(len(segment.strings) for segment in view.segments)
    return rare * strings > MAX_STRINGS


def is_expensive_plan(plan: Plan, view: View) -> bool:
    """Return whether the documents of a plan may take more than about 5 ms to score."""
    if len(view.boosts) <= SMALL:
        return False
    terms = {term for group in plan.groups for row in group for term in row[:2]}
    return sum(view.frequencies([*terms])) > MAX_POSTINGS
