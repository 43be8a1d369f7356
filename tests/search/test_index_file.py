"""The file of an index: what is read is what was written, also beside other processes and on a full disk."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

from directory_server.domain.search import Query
from directory_server.run_sync import inline, run_sync
from directory_server.search import ImpactIndex, MappedIndexFile, index_file
from directory_server.search.index import arrays, columns

from . import using
from .filled_index import LOG, filled, shared
from .random_changes import QUERIES, changes_of


def results(index: ImpactIndex) -> list[tuple[str, ...]]:
    return [tuple(hit.mcp_id for hit in run_sync(index.search(Query(each, 40))).hits) for each in QUERIES]


def reread(index: ImpactIndex, folder: Path) -> ImpactIndex:
    """Return another index with the content of `index`, through a file."""
    assert MappedIndexFile(index, folder).write(LOG, 7, "an id")
    found = ImpactIndex(inline, sizes=(2, 6))
    file = MappedIndexFile(found, folder)
    assert file.read(LOG) == (7, "an id")
    file.adopt()
    return found


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(
    "kernel", dict.fromkeys([None, arrays.engine]), ids=["numpy", "compiled"][: 1 + bool(arrays.engine)]
)
def test_an_index_from_a_file_finds_the_same_also_after_changes(seed: int, kernel: Any, tmp_path: Path) -> None:
    with using(kernel):
        index = filled(seed)
        other = reread(index, tmp_path)
        assert len(other) == len(index)
        assert results(other) == results(index)
        later = Random(seed + 100)
        for seq in range(4):
            changes = changes_of(later, seq)
            run_sync(index.apply(changes))
            run_sync(other.apply(changes))
            assert results(other) == results(index)


def test_an_empty_index_can_be_written(tmp_path: Path) -> None:
    assert len(reread(ImpactIndex(inline), tmp_path)) == 0


def test_a_file_holds_only_numbers_and_text(tmp_path: Path) -> None:
    reread(shared(), tmp_path)
    (path,) = tmp_path.iterdir()
    assert b"pickle" not in path.read_bytes()
    assert path.read_bytes().startswith(columns.MAGIC)
    assert path.stat().st_mode & 0o777 == 0o600


def test_the_arrays_of_an_index_are_those_of_the_file(tmp_path: Path) -> None:
    index = reread(shared(), tmp_path)
    for part in index.snapshot.parts:
        assert not part.segment.lists.doc_ids.flags.writeable
        assert not part.segment.lists.doc_ids.flags.owndata


def test_versions_of_the_software_have_files_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(index_file, "file_version", lambda: "old")
        old, older = MappedIndexFile(shared(), tmp_path), tmp_path / "index-older.bin"
        old.write(LOG, 7, "an id")
        older.write_bytes(b"")
        os.utime(older, (1_000, 1_000))
    new = MappedIndexFile(shared(), tmp_path)
    new.write(LOG, 7, "an id")
    # The processes of the old version may still run.
    assert set(tmp_path.iterdir()) == {old.path, new.path}


def test_one_process_writes_at_a_time(tmp_path: Path) -> None:
    one, other = MappedIndexFile(shared(), tmp_path), MappedIndexFile(shared(), tmp_path)
    with one._draft() as held:
        assert held is not None
        assert not other.write(LOG, 7, "an id")
        assert not other.path.exists()
    assert other.write(LOG, 7, "an id")
    assert [each.name for each in tmp_path.iterdir()] == [other.path.name]


def test_a_draft_of_a_killed_process_is_replaced(tmp_path: Path) -> None:
    file = MappedIndexFile(shared(), tmp_path)
    file._draft_path.write_bytes(b"x" * 10_000_000)
    assert file.write(LOG, 7, "an id")
    assert file.read(LOG) == (7, "an id")
    assert file.path.stat().st_size < 1_000_000


def test_a_draft_that_was_renamed_before_the_lock_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = MappedIndexFile(shared(), tmp_path)
    lock = fcntl.flock

    def rename_then_lock(descriptor: int, flags: int) -> None:
        os.rename(file._draft_path, file.path)
        lock(descriptor, flags)

    monkeypatch.setattr(fcntl, "flock", rename_then_lock)
    assert not file.write(LOG, 7, "an id")
    assert file.path.stat().st_size == 0


@contextmanager
def free_space(size: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    status = SimpleNamespace(f_bavail=size, f_frsize=1)
    with monkeypatch.context() as patch:
        patch.setattr(os, "fstatvfs", lambda _: status)
        yield


def test_a_nearly_full_disk_is_not_filled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = MappedIndexFile(shared(), tmp_path)
    file.write(LOG, 7, "an id")
    content = file.path.read_bytes()
    with free_space(1_000_000, monkeypatch), pytest.raises(OSError, match="less than 2 times"):
        file.write(LOG, 8, "an id")
    assert [each.read_bytes() for each in tmp_path.iterdir()] == [content]


def test_a_failed_write_leaves_the_file_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = MappedIndexFile(shared(), tmp_path)
    file.write(LOG, 7, "an id")
    content = file.path.read_bytes()

    def fail(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="No space"):
        file.write(LOG, 8, "an id")
    assert [each.read_bytes() for each in tmp_path.iterdir()] == [content]


def test_changes_during_a_copy_are_in_the_adopted_index(tmp_path: Path) -> None:
    index, random = filled(), Random(9)
    file = MappedIndexFile(index, tmp_path)
    file.write(LOG, 7, "an id")
    file.read(LOG)
    changes = changes_of(random, 50)
    run_sync(index.apply(changes))
    expected = results(index)
    generation = index.generation
    file.adopt()
    assert results(index) == expected
    assert index.generation > generation
    assert not file.is_outdated()


def test_an_abandoned_copy_keeps_no_changes(tmp_path: Path) -> None:
    index = filled()
    file = MappedIndexFile(index, tmp_path)
    file.write(LOG, 7, "an id")
    file.read(LOG)
    run_sync(index.apply(changes_of(Random(9), 50)))
    assert index._journal
    file.abandon()
    run_sync(index.apply(changes_of(Random(10), 51)))
    assert index._journal is None
    assert file.is_outdated()


def test_a_file_is_outdated_when_all_segments_were_merged(tmp_path: Path) -> None:
    index = filled()
    file = MappedIndexFile(index, tmp_path)
    assert file.is_outdated()
    assert not file.is_other()
    file.write(LOG, 7, "an id")
    assert file.is_other()
    file.read(LOG)
    file.adopt()
    assert not file.is_outdated()
    assert not file.is_other()
    vocabulary = index.snapshot.vocabulary
    random = Random(11)
    while index.snapshot.vocabulary is vocabulary:
        assert not file.is_outdated()
        run_sync(index.apply(changes_of(random, 60)))
    assert file.is_outdated()


def test_a_copy_of_the_same_content_has_the_same_generation(tmp_path: Path) -> None:
    index = filled()
    file, other = MappedIndexFile(index, tmp_path), MappedIndexFile(filled(), tmp_path)
    generation = index.generation
    file.write(LOG, 7, "an id")
    file.read(LOG)
    file.adopt()
    assert index.generation == generation
    other.write(LOG, 7, "an id")
    file.read(LOG)
    file.adopt()
    assert index.generation > generation
