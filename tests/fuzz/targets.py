"""What is fuzzed: one function for each compiled module, and one for files of an index.

A target makes one random input, calls the compiled code and compares its result with independent Python code.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import numpy as np

from directory_server.search.index import arrays
from directory_server.search.index.dictionary import MAX_COMPARED, Dictionary
from directory_server.search.index.merging import UNIT, PostingLists, add_up, contains, with_priors
from directory_server.search.index.packed import Packed
from directory_server.search.index.vocabulary import Vocabulary
from directory_server.search.ranking.top_k import top_k
from tests.search import using

from .columns import EXPECTED, RecordingModule, check_equal, damaged_column
from .shares import DAMAGED, Shares


def kernel(random: Random, module: ModuleType, shares: Shares) -> None:
    """`_kernel`: merges and look-ups, compared with numpy and Python, then with damaged arguments."""
    recording = RecordingModule(module)
    seed = random.random()
    with using(recording):
        compiled = kernel_results(Random(seed))
    with using(None):
        check_equal(compiled, kernel_results(Random(seed)))
    recording.replay(random, shares)


def kernel_results(random: Random) -> list[Any]:
    """Return results of functions that use `_kernel`, for random columns."""
    documents = random.randint(1, 40)
    postings = [
        sorted(random.sample(range(documents), random.randint(0, documents))) for _ in range(random.randint(1, 8))
    ]
    starts = np.cumsum([0, *map(len, postings), 0]).astype(np.uint32)
    doc_ids = np.array([document for posting in postings for document in posting], np.int32)
    impacts = np.array([random.randint(1, 2 * UNIT - 1) for _ in doc_ids], np.uint16)
    lists = PostingLists(starts, doc_ids, impacts, documents)
    terms = np.array(random.sample(range(len(postings)), random.randint(0, len(postings))), np.int64)
    weights = np.array([random.uniform(0.01, 50) for _ in terms])
    parts = [lists.scores_of(term, random.uniform(0.1, 2)) for term in range(len(postings))]
    live = np.array([random.random() < 0.8 for _ in range(documents)])
    priors = np.array([random.random() for _ in range(documents)], np.float32)
    scores = np.array([random.choice([0.25, random.random()]) for _ in range(random.randint(0, 70))], np.float32)
    items = [random.randbytes(random.randint(0, 9)) for _ in range(random.randint(1, 9))]
    words = words_of(random)
    vocabulary = Vocabulary()
    numbers = np.unique(vocabulary.number_words([*words, *(f"\0short:{word}" for word in words)]))
    counts = np.array([random.randint(0, 3) for _ in numbers], np.int64)
    dictionary = Dictionary.of(numbers, counts, vocabulary)
    # Longer words are not corrected.
    wanted = word_of(random, "abc7", (3, 4, 5, 8, MAX_COMPARED))
    near = dictionary.edit_matches(wanted, random.choice([1, 2]), random.choice(["", "\0short:"]))
    return [
        *(array for name in ("best_of", "least_of", "sum_of") for array in getattr(lists, name)(terms, weights)),
        *add_up(parts, documents),
        *with_priors(random.choice(parts), live, priors, 0.5, 1.0),
        contains(doc_ids[: starts[1]], np.array(random.choices(range(-1, documents + 1), k=5), np.int32)),
        np.sort(top_k(scores, random.randint(1, 70))),
        np.array(Packed.of(items).take(random.choices(range(len(items)), k=3))),
        np.array([dictionary.strings.find(word) or -1 for word in (random.choice(words), word_of(random))]),
        np.array(sorted(near)),
    ]


def words_of(random: Random) -> list[str]:
    """Return different words, sorted."""
    return sorted({word_of(random) for _ in range(random.randint(1, 40))})


def word_of(random: Random, letters: str = "abcé7\ud800", lengths: Sequence[int] = (1, 3, 4, 5, 8, 64, 65, 300)) -> str:
    return "".join(random.choices(letters, k=random.choice(lengths)))


def ranking(random: Random, module: ModuleType, shares: Shares) -> None:
    """`_ranking` and the rest of the search: a damaged file of an index, mostly with a right digest."""
    from directory_server.domain.search import Query
    from directory_server.run_sync import inline, run_sync
    from directory_server.search import ImpactIndex, MappedIndexFile
    from directory_server.search.index.columns import write_columns
    from directory_server.search.index.saved import to_columns
    from directory_server.search.index.versions import file_version
    from tests.search.filled_index import LOG
    from tests.search.test_reference import QUERIES

    assert arrays.ranking is module, "the search uses another module"
    counts, columns = to_columns(_index().snapshot)
    columns = dict(columns)
    changed = random.sample(list(columns), random.randint(0, 2))
    for name in changed:
        columns[name] = damaged_column(random, columns[name])
    with tempfile.TemporaryDirectory() as folder:
        other = ImpactIndex(inline, sizes=(2, 6))
        file = MappedIndexFile(other, Path(folder))
        with open(file.path, "w+b") as written:
            facts = {**counts, "version": file_version(), "log": LOG, "seq": 7, "last": "an id"}
            write_columns(written.fileno(), facts, columns)
            if random.random() < 0.1:
                os.pwrite(written.fileno(), random.randbytes(8), random.randrange(os.fstat(written.fileno()).st_size))
        try:
            file.read(LOG)
            file.adopt()
            is_read = True
        except (*EXPECTED, KeyError):
            is_read = False
        shares.add("index files", accepted=is_read)
        if changed:
            shares.add(DAMAGED + "index files", accepted=is_read)
        if not is_read:
            return
        for text in random.sample(QUERIES, 3):
            with suppress(*EXPECTED, KeyError):
                run_sync(other.search(Query(text, 40)))


@cache
def _index() -> Any:
    from tests.search.filled_index import filled

    return filled(3)


TARGETS = {
    "search.index._kernel": (kernel, 1_300),
    "search.index._ranking": (ranking, 350),
}
"""Target and number of inputs of each compiled module."""
