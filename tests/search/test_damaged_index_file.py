"""Files of an index that are damaged, of others or no files are not used."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from directory_server.search import ImpactIndex, MappedIndexFile, index_file
from directory_server.search.index import columns
from directory_server.search.index.columns import Unusable, map_columns, write_columns
from directory_server.search.index.saved import from_columns, to_columns

from .filled_index import LOG, shared

Alteration = Callable[[Any, Any], object]
"""Changes the facts and the columns of a file."""


def test_an_index_of_another_change_log_is_not_used(tmp_path: Path) -> None:
    file = MappedIndexFile(shared(), tmp_path)
    file.write(LOG, 7, "an id")
    with pytest.raises(Unusable, match="another change log"):
        file.read("ffffffffffff")


def test_an_index_of_another_version_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = MappedIndexFile(shared(), tmp_path)
    monkeypatch.setattr(index_file, "file_version", lambda: "of another version")
    file.write(LOG, 7, "an id")
    monkeypatch.undo()
    with pytest.raises(Unusable, match="another version"):
        file.read(LOG)


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


def test_a_file_of_another_format_is_not_used(tmp_path: Path) -> None:
    file = MappedIndexFile(shared(), tmp_path)
    file.write(LOG, 7, "an id")
    file.path.write_bytes(b"mcpindex" + file.path.read_bytes()[8:])
    with pytest.raises(Unusable, match="no index of this version"):
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
    "table.offsets", "new.offsets", "terms", "new.terms", "0.live", "0.rows.hits.offsets", "0.rows.phrases.offsets",
    "0.rows.order", "0.dictionary.terms", "0.lists.starts", "0.lists.doc_ids", "0.top_terms", "0.top_starts",
    "0.described", "1.lists.known", "1.dictionary.numbers", "1.dictionary.strings.offsets", "1.lists.doc_ids",
    "1.lists.starts",
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


@pytest.mark.parametrize("name", ["lists.doc_ids", "rows.order", "top_terms"])
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
    for name in ("0.priors", "0.rows.priors"):
        with pytest.raises(Unusable):
            altered(shared(), tmp_path, lambda _, found: found[name].fill(np.nan))  # noqa: B023
