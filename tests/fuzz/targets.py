"""What is fuzzed in the compiled engine: look-ups, searches, and files of an index.

A target makes one random input, calls the engine and compares its result with that of Python and numpy.
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
from attrs import evolve

from directory_server.domain.search import Query
from directory_server.run_sync import inline, run_sync
from directory_server.search import ImpactIndex, MappedIndexFile
from directory_server.search.index import arrays
from directory_server.search.index.columns import write_columns
from directory_server.search.index.dictionary import MAX_COMPARED, Dictionary
from directory_server.search.index.merging import contains
from directory_server.search.index.packing import file_version
from directory_server.search.index.saved import to_columns
from directory_server.search.index.vocabulary import Vocabulary
from tests.search import using
from tests.search.filled_index import LOG, filled
from tests.search.random_changes import QUERIES

from .columns import EXPECTED, RecordingModule, check_equal, damaged_column
from .shares import DAMAGED, Shares


def look_ups(random: Random, module: ModuleType, shares: Shares) -> None:
    """Look-ups, compared with numpy and Python, then with damaged arguments."""
    recording = RecordingModule(module)
    seed = random.random()
    with using(recording):
        compiled = look_up_results(Random(seed))
    with using(None):
        check_equal(compiled, look_up_results(Random(seed)))
    recording.replay(random, shares)


def look_up_results(random: Random) -> list[Any]:
    """Return results of functions that look strings and documents up, for random columns."""
    words = words_of(random)
    vocabulary = Vocabulary()
    numbers = np.unique(vocabulary.number_words([*words, *(f"\0short:{word}" for word in words)]))
    counts = np.array([random.randint(0, 3) for _ in numbers], np.int64)
    dictionary = Dictionary.of(numbers, counts, vocabulary)
    # Longer words are not corrected.
    wanted = word_of(random, "abc7", (3, 4, 5, 8, MAX_COMPARED))
    near = dictionary.edit_matches(wanted, random.choice([1, 2]), random.choice(["", "\0short:"]))
    doc_ids = np.array(sorted(random.sample(range(40), random.randint(0, 40))), np.int32)
    return [
        contains(doc_ids, np.array(random.choices(range(-1, 41), k=5), np.int32)),
        np.array([dictionary.strings.find(word) or -1 for word in (random.choice(words), word_of(random))]),
        np.array(sorted(near)),
    ]


def words_of(random: Random) -> list[str]:
    """Return different words, sorted."""
    return sorted({word_of(random) for _ in range(random.randint(1, 40))})


def word_of(random: Random, letters: str = "abcé7\ud800", lengths: Sequence[int] = (1, 3, 4, 5, 8, 64, 65, 300)) -> str:
    return "".join(random.choices(letters, k=random.choice(lengths)))


def searches(random: Random, module: ModuleType, shares: Shares) -> None:
    """Searches, compared with numpy, then with damaged arguments."""
    recording = RecordingModule(module)
    queries = [Query(text, random.choice([1, 5, 40])) for text in random.sample(QUERIES, 2)]
    # Another index has read no segments yet.
    index = _index().copy(_index().snapshot)
    index._snapshot = evolve(index.snapshot)
    with using(recording):
        compiled = [names_of(index, query) for query in queries]
    with using(None):
        assert compiled == [names_of(index, query) for query in queries], queries
    recording.replay(random, shares)


def names_of(index: ImpactIndex, query: Query) -> list[str]:
    """Return the names of the hits."""
    return [hit.server_name for hit in run_sync(index.search(query)).hits]


def files(random: Random, module: ModuleType, shares: Shares) -> None:
    """Searches of a damaged file of an index, mostly with a right digest."""
    assert arrays.engine is module, "the search uses another module"
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
def _index() -> ImpactIndex:
    return filled(3)


TARGETS = {"look_ups": (look_ups, 100), "searches": (searches, 30), "files": (files, 30)}
"""Targets by name, and the number of inputs of each."""
