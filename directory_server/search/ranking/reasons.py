"""Reasons of hits: the words by which a hit answers a query in other words, and the conditions that it satisfies."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from functools import lru_cache, reduce
from operator import and_

import numpy as np

from ..index.arrays import Bools, Ints
from ..index.merging import contains
from ..index.segment import Segment
from ..query.concepts import ConceptEvidence
from ..query.groups import TermGroup
from ..query.plan import Plan
from ..text.analysis import stem
from .scoring import Ranked

MAX_REASONS = 3
"""Words and conditions in the reason of a hit."""

_BETWEEN = "[ ./_-]{1,2}"
"""The characters between the words of a term in a text."""


def reasons(plan: Plan, segments: Sequence[Segment], hits: Sequence[Ranked]) -> Sequence[str]:
    """Return for each of `hits` its words of the concepts, and its conditions, as text; empty if no hit has any.

    The words of the query are no reason: the reader knows them.
    """
    concepts = [each for each in plan.concepts if plan.words.isdisjoint(each.name.split())]
    if not concepts and not plan.conditions:
        return ()
    known = {stem(word) for word in plan.words}
    reasons_of: list[dict[str, None]] = [{} for _ in hits]
    for number, segment in enumerate(segments):
        places = [place for place, (_, of, _) in enumerate(hits) if of == number]
        if places:
            doc_ids = np.array([hits[place][2] for place in places], np.int32)
            for concept in concepts:
                for position, words in _answers(concept, segment, doc_ids, known):
                    reasons_of[places[position]][words] = None
            facts = segment.rows.facts[doc_ids]
            for condition in plan.conditions:
                for position in np.flatnonzero(condition.satisfied_by(facts)).tolist():
                    reasons_of[places[position]][condition.label] = None
    texts = [", ".join([*each][:MAX_REASONS]) for each in reasons_of]
    return texts if any(texts) else ()


def _answers(concept: ConceptEvidence, segment: Segment, doc_ids: Ints, known: Set[str]) -> Iterator[tuple[int, str]]:
    """Yield positions in `doc_ids` of documents that have a term of the concept, and its words in their texts.

    Of each document the most specific term is looked up. One of `known` stems gives nothing.
    """
    left = np.ones(len(doc_ids), bool)
    for group in concept.terms:
        has_term = left & _has_term(group, segment, doc_ids)
        left ^= has_term
        if not known >= {*group.label.split()}:
            for position in np.flatnonzero(has_term).tolist():
                text = str(segment.rows.phrases[doc_ids[position]], "utf-8", "surrogatepass")
                if words := _words_of(group.label, text):
                    yield position, words


def _has_term(group: TermGroup, segment: Segment, doc_ids: Ints) -> Bools:
    found: Bools = reduce(and_, [contains(segment.lists.documents_with(term), doc_ids) for term in group.terms])
    return found


def _words_of(label: str, text: str) -> str:
    """Return the first words of `text`, which is folded, that the stems in `label` stand for; empty if there are none.

    Text that only tools or long descriptions have is not in `text`.
    """
    stems = label.split()
    for words in _pattern(label).finditer(text):
        start, end = words.span()
        is_whole = not (text[max(start - 1, 0) : start].isalnum() or text[end : end + 1].isalnum())
        if is_whole and [*map(stem, words.groups())] == stems:
            return words[0]
    return ""


# The labels are those of the thesaurus. At most about 4 MB.
@lru_cache(maxsize=4_096)
def _pattern(label: str) -> re.Pattern[str]:
    """Return a pattern of the words that may have the stems in `label`. A stem may differ in its last letter."""
    return re.compile(
        _BETWEEN.join(f"({re.escape(each[:-1] if len(each) > 2 else each)}[a-z0-9]*)" for each in label.split())
    )
