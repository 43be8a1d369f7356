"""The file of an index: what is read is what was written, and files that are damaged or of others are not used."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from directory_server.domain.search import Query
from directory_server.run_sync import inline, run_sync
from directory_server.search import ImpactIndex, MappedIndexFile, index_file
from directory_server.search.index import arrays, columns, saved
from directory_server.search.index.columns import Unusable, map_columns, write_columns
from directory_server.search.index.saved import from_columns, to_columns
from tests.contract.index import additions, make_entry

from . import using
from .test_reference import QUERIES, changes_of

LOG = "0123456789ab"

Alteration = Callable[[Any, Any], object]
"""Changes the facts and the columns of a file."""


def filled(seed: int = 5, batches: int = 6) -> ImpactIndex:
    """Return an index of several segments, with deleted and pinned entries and new words."""
    index, random = ImpactIndex(inline, sizes=(2, 6)), Random(seed)
    for seq in range(batches):
        run_sync(index.apply(changes_of(random, seq)))
    later = make_entry("org.example/later", "words that no other entry has")
    run_sync(index.apply(additions(later)))
    return index


shared = cache(filled)
"""Returns an index that is not changed."""


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


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(
    "kernel", dict.fromkeys([None, arrays.kernel]), ids=["numpy", "compiled"][: 1 + bool(arrays.kernel)]
)
def test_an_index_from_a_file_finds_the_same_also_after_changes(seed: int, kernel: Any, tmp_path: Path) -> None:
    with using(kernel):
        index = filled(seed)
        other = reread(index, tmp_path)
        assert len(other) == len(index)
        assert results(other) == results(index)
        later = Random(seed + 100)
        for seq in range(6):
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


def test_an_index_of_another_change_log_is_not_used(tmp_path: Path) -> None:
    file = MappedIndexFile(shared(), tmp_path)
    file.write(LOG, 7, "an id")
    with pytest.raises(Unusable, match="another change log"):
        file.read("ffffffffffff")


def test_an_index_of_another_version_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = MappedIndexFile(shared(), tmp_path)
    monkeypatch.setattr(index_file, "build_digest", lambda: "of another version")
    file.write(LOG, 7, "an id")
    monkeypatch.undo()
    with pytest.raises(Unusable, match="another version"):
        file.read(LOG)


def test_versions_of_the_software_have_files_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(index_file, "build_digest", lambda: "old")
        old, older = MappedIndexFile(shared(), tmp_path), tmp_path / "index-older.bin"
        old.write(LOG, 7, "an id")
        older.write_bytes(b"")
        os.utime(older, (1_000, 1_000))
    new = MappedIndexFile(shared(), tmp_path)
    new.write(LOG, 7, "an id")
    # The processes of the old version may still run.
    assert set(tmp_path.iterdir()) == {old.path, new.path}


def test_the_digest_depends_on_the_code(monkeypatch: pytest.MonkeyPatch) -> None:
    saved.build_digest.cache_clear()
    before = saved.build_digest()
    saved.build_digest.cache_clear()
    monkeypatch.setattr(saved, "version", lambda library: "2")
    assert saved.build_digest() != before
    saved.build_digest.cache_clear()


def test_a_missing_file_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        MappedIndexFile(shared(), tmp_path).read(LOG)


@pytest.mark.parametrize("share", [0.0, 0.001, 0.01, 0.5, 0.999])
def test_a_cut_file_is_not_used(share: float, tmp_path: Path) -> None:
    file = MappedIndexFile(shared(), tmp_path)
    file.write(LOG, 7, "an id")
    os.truncate(file.path, int(file.path.stat().st_size * share))
    with pytest.raises(Unusable):
        file.read(LOG)


def test_a_file_with_a_changed_byte_is_not_used(tmp_path: Path) -> None:
    file = MappedIndexFile(shared(), tmp_path)
    file.write(LOG, 7, "an id")
    content = file.path.read_bytes()
    random = Random(3)
    for place in [0, 8, 16, 100, len(content) - 1, *random.sample(range(len(content)), 40)]:
        file.path.write_bytes(
            content[:place] + bytes([content[place] ^ (1 << random.randrange(8))]) + content[place + 1 :]
        )
        with pytest.raises(Unusable):
            file.read(LOG)


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    file = MappedIndexFile(shared(), tmp_path)
    file.write(LOG, 7, "an id")
    file.path.rename(tmp_path / "other")
    file.path.symlink_to(tmp_path / "other")
    with pytest.raises(OSError, match="symbolic"):
        file.read(LOG)
    file.path.with_suffix(".new").symlink_to(tmp_path / "other")
    with pytest.raises(OSError, match="symbolic"):
        file.write(LOG, 7, "an id")


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    file = MappedIndexFile(shared(), tmp_path)
    os.mkfifo(file.path)
    with pytest.raises(OSError, match="seek"):
        file.read(LOG)


def altered(index: ImpactIndex, folder: Path, change: Alteration) -> None:
    """Read a file of `index` with a valid checksum, whose facts and columns were changed."""
    facts, found = to_columns(index.snapshot)
    facts, found = dict(facts), {name: column.copy() for name, column in found.items()}
    change(facts, found)
    path = folder / "altered"
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC)
    try:
        write_columns(file, facts, found)
        from_columns(map_columns(file))
    finally:
        os.close(file)


ALTERATIONS: dict[str, Alteration] = {
    "no facts": lambda facts, _: facts.clear(),
    "too many segments": lambda facts, _: facts.update(segments=10**9),
    "a segment too many": lambda facts, _: facts.update(segments=facts["segments"] + 1),
    "segments that are no number": lambda facts, _: facts.update(segments="1"),
    "a lexicon that is no JSON": lambda _, found: found.update(lexicon=np.zeros(3, np.uint8)),
    "a lexicon that is no list": lambda _, found: found.update(lexicon=np.frombuffer(b"1", np.uint8)),
    "strings that are not UTF-8": lambda _, found: found["new.data"].fill(255),
}

POSITIONS = (
    "table.offsets", "new.offsets", "terms", "new.terms", "0.live", "0.hits.offsets", "0.phrases.offsets", "0.order",
    "0.words.terms", "0.starts", "0.doc_ids", "0.top_terms", "0.top_starts", "0.described", "1.known",
    "1.words.numbers", "1.words.offsets", "1.doc_ids", "1.starts",
)  # fmt: skip


@pytest.mark.parametrize("name", ALTERATIONS)
def test_invalid_content_is_not_used(name: str, tmp_path: Path) -> None:
    with pytest.raises(Unusable):
        altered(shared(), tmp_path, ALTERATIONS[name])


@pytest.mark.parametrize("name", POSITIONS)
@pytest.mark.parametrize("place", [0, -1, "middle"])
def test_positions_out_of_range_are_not_used(name: str, place: int | str, tmp_path: Path) -> None:
    def alter(_: object, found: dict[str, NDArray[Any]]) -> None:
        column = found[name]
        column[len(column) // 2 if isinstance(place, str) else place] = np.iinfo(column.dtype).max

    with pytest.raises(Unusable):
        altered(shared(), tmp_path, alter)


@pytest.mark.parametrize("name", ["doc_ids", "order", "top_terms"])
def test_negative_positions_are_not_used(name: str, tmp_path: Path) -> None:
    def alter(_: object, found: dict[str, NDArray[Any]]) -> None:
        found[f"0.{name}"][0] = -1

    with pytest.raises(Unusable):
        altered(shared(), tmp_path, alter)


def test_columns_of_another_length_are_not_used(tmp_path: Path) -> None:
    index = shared()
    names = {name for name in to_columns(index.snapshot)[1] if not name.endswith(".data")} - {"lexicon", "pinned"}
    for name in names:
        for change in (lambda column: column[:-1], lambda column: np.append(column, column[-1:])):
            with pytest.raises(Unusable):
                altered(index, tmp_path, lambda _, found: found.update({name: change(found[name])}))  # noqa: B023


def test_numbers_that_are_not_finite_are_not_used(tmp_path: Path) -> None:
    for name in ("0.priors", "0.row_priors"):
        with pytest.raises(Unusable):
            altered(shared(), tmp_path, lambda _, found: found[name].fill(np.nan))  # noqa: B023


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
