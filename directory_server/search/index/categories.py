"""The categories of many entries: one label for all spellings, the most frequent first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from .document import Document
from .facets import facet
from .merging import PostingLists
from .vocabulary import Vocabulary

MAX_CATEGORIES = 300
"""Categories of a segment. The 25,984 real entries have 297 labels."""


def labels_of(documents: Iterable[Document]) -> Sequence[str]:
    """Return the labels of the categories of `documents`, the most frequent spelling first."""
    return [
        label
        for label, _ in Counter(label for document in documents for label in document.row.categories).most_common()
    ]


def most_frequent(labels: Iterable[str], lists: PostingLists, vocabulary: Vocabulary) -> tuple[str, ...]:
    """Return the MAX_CATEGORIES of `labels` that most documents of `lists` have as a tag or category.

    Of several labels that the filter `tag` does not tell apart, it is the first.
    """
    terms: dict[int, str] = {}
    for label in labels:
        term = vocabulary.find(facet("tag", label))
        if term is not None:
            terms.setdefault(term, label)
    if not terms:
        return ()
    counts = lists.frequencies(np.fromiter(terms, np.int64, len(terms))).tolist()
    ranked = sorted(zip(counts, terms.values(), strict=True), key=lambda each: -each[0])
    return tuple(label for count, label in ranked[:MAX_CATEGORIES] if count)
