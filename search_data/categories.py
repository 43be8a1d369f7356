"""Train the table of categories, for entries whose publisher names none: `directory_server/search/data/categories.npz`.

    python -m search_data.categories    4 minutes of processor time

A linear classifier reads the terms of an entry and its vector. It learns from the labels of publishers, of one half of
the entries that have labels, chosen by a hash of the name. The other half gives the threshold: the score that COVERAGE
of them reach. Printed are the coverage, and the precision: the share of categories that are one of the publisher's.
The labels of publishers are incomplete. Of the categories that `tests/relevance/derived_categories.tsv` has, of entries
without labels, a reader called 85 % right.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from hashlib import blake2b

import numpy as np
from attrs import evolve, frozen
from numpy.typing import NDArray

from bench.catalogue.files import REAL, read_entries
from directory_server.domain.categories import CATEGORIES, categories_of
from directory_server.domain.entries import PUBLISHER, Entry
from directory_server.search.index.document import build_document
from directory_server.search.tables.word_categories import WordCategories

from .lexicon import OUTPUT

PATH = OUTPUT.with_name("categories.npz")

TERMS, LEAST_ENTRIES = 4_000, 3
"""Terms of the table: the most frequent ones, with at least so many entries."""

COVERAGE = 0.7
"""The share of entries that get a category."""

STEPS, RIDGE = 300, 0.0002

Floats = NDArray[np.float32]


@frozen
class Labelled:
    """An entry as the classifier reads it, and the categories that its publisher names."""

    terms: Sequence[str]
    vector: bytes
    categories: Sequence[str]


def main() -> None:
    """Write the table."""
    halves: tuple[list[Labelled], list[Labelled]] = [], []
    for entry in read_entries(REAL):
        if named := categories_of(entry.categories, entry.tags):
            halves[is_held(entry)].append(labelled(entry, named))
    trained, held = halves
    counts = Counter(term for row in trained for term in row.terms)
    words = [term for term, count in counts.most_common(TERMS) if count >= LEAST_ENTRIES]
    table = _quantised(words, *_fit(WordCategories.empty(words), trained))
    scores = [table.best(row.terms, row.vector) for row in held]
    least = float(np.quantile([score for _, score in scores], 1 - COVERAGE))
    right = [category in row.categories for (category, score), row in zip(scores, held, strict=True) if score >= least]
    print(f"precision {np.mean(right):.3f}, coverage {len(right) / len(held):.3f} of {len(held):,} held entries")
    table = evolve(table, least=least)
    np.savez_compressed(PATH, **table.arrays())


def is_held(entry: Entry) -> bool:
    """Return whether nothing is learnt from an entry."""
    return bool(blake2b(entry.name.encode(), digest_size=1).digest()[0] % 2)


def labelled(entry: Entry, categories: Sequence[str]) -> Labelled:
    """Return an entry without what its publisher says of categories and tags."""
    others = {key: value for key, value in entry.publisher.items() if key not in ("categories", "tags")}
    document = build_document(evolve(entry, server={**entry.server, "_meta": {PUBLISHER: others}}))
    return Labelled(document.terms, document.row.vector, categories)


def _fit(table: WordCategories, rows: Sequence[Labelled]) -> tuple[Floats, Floats]:
    """Return weights and biases by logistic regression for each category, with Adam."""
    matrix = np.array([table.features(row.terms, row.vector) for row in rows], np.float32)
    wanted = np.array([[name in row.categories for name in CATEGORIES] for row in rows], np.float32)
    weights = np.zeros((matrix.shape[1], len(CATEGORIES)), np.float32)
    biases = np.full(len(CATEGORIES), -3, np.float32)
    moments = [np.zeros_like(part) for part in (weights, weights, biases, biases)]
    for step in range(1, STEPS + 1):
        errors = 1 / (1 + np.exp(-(matrix @ weights + biases))) - wanted
        slopes = matrix.T @ errors / len(rows) + RIDGE * weights, errors.mean(axis=0)
        rate = 0.05 * (1 + np.cos(np.pi * step / STEPS)) + 0.002
        for number, (part, slope) in enumerate(zip((weights, biases), slopes, strict=True)):
            mean, square = moments[2 * number : 2 * number + 2]
            mean += 0.1 * (slope - mean)
            square += 0.01 * (slope**2 - square)
            part -= rate * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.99**step)) + 1e-6)
    return weights, biases


def _quantised(words: Sequence[str], weights: Floats, biases: Floats) -> WordCategories:
    scale = float(np.abs(weights).max()) / 127
    return WordCategories(words, np.rint(weights / scale).astype(np.int8), biases / scale, 0.0)


if __name__ == "__main__":
    main()
