"""The file of an index: what is read is what was written; files that are damaged or of others are not used."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from directory_server.runtime.run_sync import inline, run_sync
from directory_server.search import ImpactIndex, MappedIndexFile, index_file
from directory_server.search.index import columns
from directory_server.search.index.columns import Unusable, map_columns, write_columns
from directory_server.search.index.saved import from_columns, to_columns

from . import search
from .filled_index import LOG, filled, shared
from .random_changes import QUERIES, changes_of

pytestmark = pytest.mark.slow

Alteration = Callable[[Any, Any], object]
"""Changes the facts and the columns of a file."""


def results(index: ImpactIndex) -> list[tuple[str, ...]]:
    return [tuple(hit.mcp_id for hit in search(index, query, 40).hits) for query in QUERIES]


def reread(index: ImpactIndex, folder: Path) -> ImpactIndex:
    """Return another index with the content of `index`, through a file."""
    assert MappedIndexFile(index, folder).write(LOG, 7, "an id")
    found = ImpactIndex(inline, sizes=(2, 6))
    file = MappedIndexFile(found, folder)
    assert file.read(LOG) == (7, "an id")
    file.adopt()
    return found


@pytest.fixture
def written(tmp_path: Path) -> MappedIndexFile:
    """Return a file that was written."""
    file = MappedIndexFile(shared(), tmp_path)
    file.write(LOG, 7, "an id")
    return file


@pytest.mark.parametrize("seed", range(2))
def test_an_index_from_a_file_finds_the_same_also_after_changes(seed: int, tmp_path: Path) -> None:
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


def test_a_file_holds_only_numbers_and_text_which_the_index_maps(tmp_path: Path) -> None:
    index = reread(shared(), tmp_path)
    (path,) = tmp_path.iterdir()
    assert b"pickle" not in path.read_bytes()
    assert path.read_bytes().startswith(columns.MAGIC)
    assert path.stat().st_mode & 0o777 == 0o600
    for part in index.snapshot.parts:
        assert not part.segment.docs.flags.writeable
        assert not part.segment.docs.flags.owndata


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
    assert [*tmp_path.iterdir()] == [other.path]


def test_a_draft_of_a_killed_process_is_replaced(tmp_path: Path) -> None:
    file = MappedIndexFile(shared(), tmp_path)
    file._draft_path.write_bytes(b"x" * 10_000_000)
    assert file.write(LOG, 7, "an id")
    assert file.read(LOG) == (7, "an id")
    assert file.path.stat().st_size < 1_000_000


def test_a_draft_that_was_renamed_before_the_lock_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, lock = MappedIndexFile(shared(), tmp_path), fcntl.flock

    def rename_then_lock(descriptor: int, flags: int) -> None:
        os.rename(file._draft_path, file.path)
        lock(descriptor, flags)

    monkeypatch.setattr(fcntl, "flock", rename_then_lock)
    assert not file.write(LOG, 7, "an id")
    assert file.path.stat().st_size == 0


def _fail(_: int) -> None:
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize(
    ("name", "function", "error"),
    [
        ("fstatvfs", lambda _: SimpleNamespace(f_bavail=1_000_000, f_frsize=1), "less than 2 times"),
        ("fsync", _fail, "No space"),
    ],
)
def test_a_full_disk_leaves_the_file_before(
    written: MappedIndexFile, name: str, function: Any, error: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = written.path.read_bytes()
    monkeypatch.setattr(os, name, function)
    with pytest.raises(OSError, match=error):
        written.write(LOG, 8, "an id")
    assert [path.read_bytes() for path in written.path.parent.iterdir()] == [content]


def test_changes_during_a_copy_are_in_the_adopted_index(tmp_path: Path) -> None:
    index = filled()
    file = MappedIndexFile(index, tmp_path)
    file.write(LOG, 7, "an id")
    file.read(LOG)
    run_sync(index.apply(changes_of(Random(9), 50)))
    expected, generation = results(index), index.generation
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
    index, random = filled(), Random(11)
    file = MappedIndexFile(index, tmp_path)
    assert (file.is_outdated(), file.is_other()) == (True, False)
    file.write(LOG, 7, "an id")
    assert file.is_other()
    file.read(LOG)
    file.adopt()
    assert (file.is_outdated(), file.is_other()) == (False, False)
    largest = index.snapshot.parts[0].segment
    while index.snapshot.parts[0].segment is largest:
        assert not file.is_outdated()
        run_sync(index.apply(changes_of(random, 60)))
    assert file.is_outdated()


def test_a_copy_of_the_same_content_has_the_same_generation(tmp_path: Path) -> None:
    index = filled()
    file, other = MappedIndexFile(index, tmp_path), MappedIndexFile(filled(), tmp_path)
    generation = index.generation
    for writer, is_new in ((file, False), (other, True)):
        writer.write(LOG, 7, "an id")
        file.read(LOG)
        file.adopt()
        assert (index.generation > generation) == is_new


def test_an_index_of_another_log_or_version_is_not_used(
    written: MappedIndexFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(Unusable, match="another change log"):
        written.read("ffffffffffff")
    with monkeypatch.context() as patch:
        patch.setattr(index_file, "file_version", lambda: "of another version")
        written.write(LOG, 7, "an id")
    with pytest.raises(Unusable, match="another version"):
        written.read(LOG)
    written.path.write_bytes(b"mcpindex" + written.path.read_bytes()[8:])
    with pytest.raises(Unusable, match="no index of this version"):
        written.read(LOG)
    written.path.unlink()
    with pytest.raises(FileNotFoundError):
        written.read(LOG)


@pytest.mark.parametrize("share", [0.0, 0.001, 0.01, 0.5, 0.999])
def test_a_cut_file_is_not_used(written: MappedIndexFile, share: float) -> None:
    os.truncate(written.path, int(written.path.stat().st_size * share))
    with pytest.raises(Unusable):
        written.read(LOG)


def test_a_file_with_a_changed_byte_is_not_used(written: MappedIndexFile) -> None:
    content, random = written.path.read_bytes(), Random(3)
    for place in [0, 8, 16, 100, len(content) - 1, *random.sample(range(len(content)), 40)]:
        changed = bytes([content[place] ^ (1 << random.randrange(8))])
        written.path.write_bytes(content[:place] + changed + content[place + 1 :])
        with pytest.raises(Unusable):
            written.read(LOG)


@pytest.mark.parametrize("distance", [1, columns.ROW, columns.ROW + 1, columns.BLOCK // 8, columns.BLOCK])
def test_a_file_with_exchanged_numbers_is_not_used(distance: int, tmp_path: Path) -> None:
    numbers = np.arange(columns.BLOCK * 2, dtype=np.uint64)
    file = os.open(tmp_path / "file", os.O_RDWR | os.O_CREAT)
    try:
        write_columns(file, {}, {"numbers": numbers})
        assert map_columns(file).column("numbers", np.uint64, len(numbers))[-1] == numbers[-1]
        numbers[[7, 7 + distance]] = numbers[[7 + distance, 7]]
        os.pwrite(file, numbers.data, os.fstat(file).st_size - columns.DIGEST - numbers.nbytes)
        with pytest.raises(Unusable, match="checksum"):
            map_columns(file)
    finally:
        os.close(file)


def test_links_are_not_followed_and_pipes_not_waited_for(written: MappedIndexFile) -> None:
    other = written.path.with_name("other")
    written.path.rename(other)
    written.path.symlink_to(other)
    with pytest.raises(OSError, match="symbolic"):
        written.read(LOG)
    written.path.with_suffix(".new").symlink_to(other)
    with pytest.raises(OSError, match="symbolic"):
        written.write(LOG, 7, "an id")
    written.path.unlink()
    os.mkfifo(written.path)
    with pytest.raises(OSError, match="seek"):
        written.read(LOG)


def read_altered(folder: Path, change: Alteration) -> None:
    """Read a file of an index with a valid checksum, whose facts and columns were changed."""
    facts, found = to_columns(shared().snapshot)
    facts, found = dict(facts), {name: column.copy() for name, column in found.items()}
    change(facts, found)
    file = os.open(folder / "altered", os.O_RDWR | os.O_CREAT | os.O_TRUNC)
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
    "pins that are no JSON": lambda _, found: found.update(pinned=np.zeros(3, np.uint8)),
    "pins that are no list": lambda _, found: found.update(pinned=np.frombuffer(b"1", np.uint8)),
    "pins that are no texts": lambda _, found: found.update(pinned=np.frombuffer(b"[[]]", np.uint8)),
    "priors that are no numbers": lambda _, found: found["0.priors"].fill(np.nan),
    "a prior without bounds": lambda _, found: found["0.priors"].fill(np.inf),
    "a negative place": lambda _, found: found["0.docs"].__setitem__(0, -1),
    "a place beyond the segment": lambda _, found: found["1.docs"].__setitem__(0, len(found["1.live"])),
    "a date in the future": lambda _, found: found["0.updated"].fill(1 << 23),
    "no free slot": lambda _, found: found["0.slots"].fill(0),
    "slots of no power of two": lambda _, found: found.update({"0.slots": found["0.slots"][1:]}),
    "stars below none": lambda _, found: found["0.stars"].fill(-2),
}


@pytest.mark.parametrize("name", ALTERATIONS)
def test_invalid_content_is_not_used(name: str, tmp_path: Path) -> None:
    with pytest.raises(Unusable):
        read_altered(tmp_path, ALTERATIONS[name])


POSITIONS = "starts", "docs", "stars", "updated", "live", "slots", "hits.offsets", "phrases.offsets", "tools.offsets"


@pytest.mark.parametrize("name", [f"{segment}.{name}" for segment in (0, 1) for name in POSITIONS])
@pytest.mark.parametrize("place", [0, -1, "middle"])
def test_positions_out_of_range_are_not_used(name: str, place: int | str, tmp_path: Path) -> None:
    def alter(_: object, found: dict[str, NDArray[Any]]) -> None:
        column = found[name]
        column[len(column) // 2 if isinstance(place, str) else place] = np.iinfo(column.dtype).max

    with pytest.raises(Unusable):
        read_altered(tmp_path, alter)


@pytest.mark.parametrize("change", [lambda column: column[:-1], lambda column: np.append(column, column[-1:])])
def test_columns_of_another_length_are_not_used(change: Callable[[Any], Any], tmp_path: Path) -> None:
    names = {name for name in to_columns(shared().snapshot)[1] if not name.endswith(".data")} - {"pinned"}
    assert len(names) > 20
    for name in names:
        with pytest.raises(Unusable):
            read_altered(tmp_path, lambda _, found: found.update({name: change(found[name])}))  # noqa: B023
