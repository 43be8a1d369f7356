"""Large arrays of an index in files."""

from __future__ import annotations

import os
import resource
from pathlib import Path
from random import Random

import numpy as np
import pytest

from directory_server.run_sync import inline, run_sync
from directory_server.search import ImpactIndex, Spill
from directory_server.search.index import memory, tiers
from directory_server.search.index.memory import forget_pages
from directory_server.search.index.saved import to_columns

from .test_reference import changes_of

SIZES = 4, 16


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


@pytest.mark.usefixtures("small_arrays_are_large")
def test_an_index_with_arrays_in_files_is_equal(tmp_path: Path) -> None:
    spilled, plain = filled(ImpactIndex(inline, SIZES, keep=Spill(tmp_path))), filled(ImpactIndex(inline, SIZES))
    assert columns_of(spilled) == columns_of(plain)
    largest = spilled.snapshot.parts[0].segment
    assert not largest.rows.phrases.data.flags.owndata
    assert not largest.lists.doc_ids.flags.owndata
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
        assert Spill(tmp_path)(array) is array
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    array = np.arange(memory.LEAST)
    assert Spill(tmp_path / "file")(array) is array


def test_pages_of_a_spilled_array_leave_the_process(tmp_path: Path) -> None:
    size = 8 * memory.LEAST
    array = Spill(tmp_path)(np.ones(size, np.uint8))
    assert int(array.sum()) == size
    if not Path("/proc/self/statm").exists():
        pytest.skip("needs /proc")
    read = _shared_pages()
    forget_pages()
    assert (read - _shared_pages()) * os.sysconf("SC_PAGE_SIZE") > size // 2
    assert int(array.sum()) == size


def _shared_pages() -> int:
    return int(Path("/proc/self/statm").read_text().split()[2])
