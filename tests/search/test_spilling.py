"""Large arrays of an index in files."""

from __future__ import annotations

import resource
from itertools import count
from pathlib import Path
from random import Random
from weakref import WeakSet

import numpy as np
import pytest

from directory_server.domain.search import Query
from directory_server.run_sync import inline, run_sync
from directory_server.search import ImpactIndex, Keep
from directory_server.search.index import lexicon, memory, merging, packed, segment, strings, tiers, vocabulary
from directory_server.search.index.memory import bound_pages, forget_pages, resident_files
from directory_server.search.index.saved import to_columns
from directory_server.search.query import cost
from tests.contract.index import additions, make_entry

from .random_changes import changes_of

SIZES = 4, 16
BILINGUAL = {f"city{number}": "today " * (number % 2) for number in range(40)}


@pytest.fixture
def small_arrays_are_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "LEAST", 1)
    monkeypatch.setattr(tiers, "SPILLED", 1)


def filled(index: ImpactIndex) -> ImpactIndex:
    random = Random(1)
    for seq in range(20):
        run_sync(index.apply(changes_of(random, seq)))
    return index


def columns_of(index: ImpactIndex) -> dict[str, bytes]:
    return {name: column.tobytes() for name, column in to_columns(index.snapshot)[1].items()}


@pytest.fixture
def plain() -> ImpactIndex:
    """An index in memory, made before any limit is changed."""
    return filled(ImpactIndex(inline, SIZES))


def test_an_index_that_is_merged_in_small_pieces_is_equal(plain: ImpactIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    limits = ((merging, "CHUNK"), (packed, "PIECE"), (segment, "DOCUMENTS"), (lexicon, "SLICE"))
    batches = ((each, "BATCH") for each in (strings, vocabulary, lexicon))
    bilingual = additions(
        *(make_entry(f"org.example/{word}", f"{word} forecast, {more}天气 预报") for word, more in BILINGUAL.items())
    )
    run_sync(plain.apply(bilingual))
    assert b"forecast" in columns_of(plain)["lexicon"]
    for module, name in (*limits, *batches):
        monkeypatch.setattr(module, name, 3)
    index = filled(ImpactIndex(inline, SIZES))
    run_sync(index.apply(bilingual))
    assert columns_of(index) == columns_of(plain)


def test_many_new_strings_are_moved_to_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiers, "MAX_NEW", 50)
    index = ImpactIndex(inline, (2, 3))
    words = " ".join(f"word{number}" for number in range(50))
    run_sync(index.apply(additions(*(make_entry(f"org.example/entry-{number}", "weather") for number in range(5)))))
    run_sync(index.apply(additions(make_entry("org.example/second", "forecast"))))
    assert len(index.snapshot.parts) == 2
    assert index.snapshot.vocabulary.new_count > 0
    run_sync(index.apply(additions(make_entry("org.example/last", words))))
    assert len(index.snapshot.parts) == 1
    assert index.snapshot.vocabulary.new_count == 0


@pytest.mark.usefixtures("small_arrays_are_large")
def test_an_index_with_arrays_in_files_is_equal(plain: ImpactIndex, tmp_path: Path) -> None:
    spilled = filled(ImpactIndex(inline, SIZES, keep=Keep(tmp_path)))
    assert columns_of(spilled) == columns_of(plain)
    largest = spilled.snapshot.parts[0].segment
    assert not largest.rows.phrases.data.flags.owndata
    assert not largest.lists.doc_ids.flags.owndata
    assert not spilled.snapshot.vocabulary.table.data.flags.owndata
    assert list(tmp_path.iterdir()) == []
    forget_pages()
    assert columns_of(spilled) == columns_of(plain)


@pytest.mark.usefixtures("small_arrays_are_large")
def test_no_space_for_a_file(tmp_path: Path) -> None:
    array = np.arange(100_000)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    # The write fails as on a full disk. Python ignores SIGXFSZ.
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, hard))
    try:
        assert Keep(tmp_path)(array) is array
        empty = Keep(tmp_path).empty(len(array), np.int64)
        empty[:] = array
        assert empty.flags.owndata
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    array = np.arange(memory.LEAST)
    assert Keep(tmp_path / "file")(array) is array
    assert Keep(tmp_path / "file").empty(memory.LEAST, np.int32).flags.owndata


def test_an_array_to_fill_keeps_what_is_written(tmp_path: Path) -> None:
    array = Keep(tmp_path).empty(memory.LEAST, np.int32)
    assert not array.flags.owndata
    array[:] = 7
    forget_pages()
    assert int(array.sum()) == 7 * memory.LEAST
    assert list(tmp_path.iterdir()) == []


def test_pages_of_a_spilled_array_leave_the_process(tmp_path: Path) -> None:
    size = 8 * memory.LEAST
    array = Keep(tmp_path)(np.ones(size, np.uint8))
    assert int(array.sum()) == size
    read = _resident_files()
    forget_pages()
    assert read - resident_files() > size // 2
    assert int(array.sum()) == size


@pytest.fixture
def no_other_maps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "_maps", WeakSet())
    monkeypatch.setattr(memory, "_turns", count())


@pytest.mark.usefixtures("no_other_maps")
def test_pages_beyond_a_bound_leave_the_process_in_turn(tmp_path: Path) -> None:
    size = 2 * memory.PIECES * memory.PIECE
    array = Keep(tmp_path)(np.ones(size, np.uint8))
    assert int(array.sum()) == size
    read = _resident_files()
    bound_pages(read + size)
    assert resident_files() > read - memory.PIECE
    for rest in (size // 2, 0):
        bound_pages(0)
        assert abs(read - resident_files() - (size - rest)) < size // 8
    assert int(array.sum()) == size
    bound = resident_files() - size // 4
    bound_pages(bound)
    assert bound - 2 * memory.PIECE < resident_files() <= bound


@pytest.mark.usefixtures("no_other_maps")
def test_searches_in_threads_bound_the_pages(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    size = memory.PIECES * memory.PIECE
    array = Keep(tmp_path)(np.ones(size, np.uint8))
    index = filled(ImpactIndex(inline, SIZES))
    query = Query("weather")
    expected = run_sync(index.search(query))
    assert int(array.sum()) == size
    read = _resident_files()
    monkeypatch.setattr(memory, "RESIDENT", 0)
    assert run_sync(index.search(query)) == expected
    assert resident_files() > read - memory.PIECE, "a search of few entries is not in a thread"
    monkeypatch.setattr(cost, "LARGE", 0)
    assert run_sync(index.search(query)) == expected
    assert read - resident_files() > size // 2


def _resident_files() -> int:
    found = resident_files()
    if not found:
        pytest.skip("needs /proc")
    return found
