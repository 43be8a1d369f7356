"""An import publishes what is good, in batches, and tells of the rest."""

from __future__ import annotations

import gzip
import json
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pytest
from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

from directory_server.domain.changes import Outcome
from directory_server.domain.entries import OFFICIAL, Entry
from directory_server.domain.errors import Unavailable
from directory_server.importer import ImportReport, Progress, RejectedEntry, import_files
from directory_server.importer._importer import BATCH_BYTES, DETAILS

T = TypeVar("T")


def result(coroutine: Coroutine[Deferred[Any], Any, T]) -> T:
    """Return what a coroutine that waits for nothing returns, or raise what it raises."""
    outcomes: list[T | Failure] = []
    Deferred.fromCoroutine(coroutine).addBoth(outcomes.append)
    [outcome] = outcomes
    if isinstance(outcome, Failure):
        outcome.raiseException()
    return outcome


class Shelf:
    """Keeps the batches it is given; from `full_after` of them on it is full."""

    def __init__(self, full_after: int | None = None) -> None:
        self.batches: list[list[str]] = []
        self.sources: set[str] = set()
        self._full_after = full_after
        self._versions: dict[str, str] = {}

    async def publish(self, source: str, entries: Sequence[Entry]) -> Sequence[Outcome]:
        if len(self.batches) == self._full_after:
            raise Unavailable("The disk is full.")
        self.sources.add(source)
        self.batches.append([entry.name for entry in entries])
        return [self._keep(entry) for entry in entries]

    def _keep(self, entry: Entry) -> Outcome:
        before = self._versions.get(entry.name)
        self._versions[entry.name] = entry.version
        return "added" if before is None else "unchanged" if before == entry.version else "changed"


def line(name: str, **members: Any) -> str:
    return json.dumps({"server": {"name": name, "version": "1", "description": "d", **members}}) + "\n"


def test_files_are_believed_about_the_official_registry_only_when_asked_to(tmp_path: Path) -> None:
    published: list[Entry] = []

    async def publish(source: str, entries: Sequence[Entry]) -> Sequence[Outcome]:
        published.extend(entries)
        return ["added"] * len(entries)

    server = {"name": "x", "version": "1", "description": "d"}
    listed = {"server": server, "_meta": {OFFICIAL: {"status": "active"}}, "official": True, "is_official": True}
    file = kept(tmp_path / "a", json.dumps(listed) + "\n", json.dumps({"server": server, "official": True}) + "\n")
    for official in (False, True):
        result(import_files([file], publish, source="local", official=official))
    assert [entry.is_official for entry in published] == [False, False, True, False]


def kept(path: Path, *lines: str) -> str:
    path.write_text("".join(lines))
    return str(path)


def test_the_outcomes_are_counted_and_the_source_is_named(tmp_path: Path) -> None:
    shelf = Shelf()
    first = kept(tmp_path / "a", line("x"), line("y"))
    second = kept(tmp_path / "b", line("x"), line("y", version="2"), line("z"))
    report = result(import_files([first, second], shelf.publish, source="local"))
    assert report == ImportReport(added=3, changed=1, unchanged=1)
    assert report.entries == 5
    assert shelf.sources == {"local"}
    assert shelf.batches == [["x", "y", "x", "y", "z"]]


def test_bad_files_and_entries_are_refused_and_the_rest_goes_on(tmp_path: Path) -> None:
    shelf = Shelf()
    files = [
        str(tmp_path),
        kept(tmp_path / "a", line("x"), "oops\n", '{"name": "n", "version": 1, "description": ""}\n', line("y")),
        kept(tmp_path / "b", "[", line("z"), ", null, [", line("w")),
        kept(tmp_path / "c", line("v")),
    ]
    report = result(import_files(files, shelf.publish, source="local"))
    assert shelf.batches == [["x", "y", "z", "v"]]
    assert (report.added, report.refused, report.unfinished) == (4, 5, 2)
    assert [(refusal.file, refusal.line) for refusal in report.refusals] == [
        (files[0], None),
        (files[1], 2),
        (files[1], 3),
        (files[2], 2),
        (files[2], 2),
    ]
    assert report.refusals[0] == RejectedEntry(files[0], None, "The file cannot be read: Is a directory.")
    assert "not JSON" in report.refusals[1].reason
    assert report.refusals[2].reason == "server.version: must be a string."
    assert report.refusals[3].reason.startswith("An entry must be an object")
    assert report.refusals[4].reason == "The JSON breaks off in line 3: the file ends before it does."


def test_a_transaction_has_at_most_a_batch_of_entries(tmp_path: Path) -> None:
    shelf = Shelf()
    file = kept(tmp_path / "a", *(line(f"n{number}") for number in range(7)))
    assert result(import_files([file], shelf.publish, source="local", batch=3)).added == 7
    assert [len(batch) for batch in shelf.batches] == [3, 3, 1]


def test_a_transaction_of_large_entries_has_fewer(tmp_path: Path) -> None:
    shelf = Shelf()
    large = "x" * (BATCH_BYTES // 5)
    file = kept(tmp_path / "a", *(line(f"n{number}", readme=large) for number in range(7)))
    assert result(import_files([file], shelf.publish, source="local")).added == 7
    assert [len(batch) for batch in shelf.batches] == [5, 2]


def test_nothing_is_published_where_nothing_is_good(tmp_path: Path) -> None:
    shelf = Shelf()
    assert result(import_files([kept(tmp_path / "a", "[]")], shelf.publish, source="local")) == ImportReport()
    assert result(import_files([kept(tmp_path / "a")], shelf.publish, source="local")).unfinished == 1
    assert shelf.batches == []


def test_a_full_disk_ends_the_import_and_the_report_says_how_far_it_came(tmp_path: Path) -> None:
    shelf = Shelf(full_after=2)
    file = kept(tmp_path / "a", "oops\n", *(line(f"n{number}") for number in range(9)))
    report = ImportReport()
    with pytest.raises(Unavailable):
        result(import_files([file], shelf.publish, source="local", batch=2, report=report))
    assert shelf.batches == [["n0", "n1"], ["n2", "n3"]]
    assert (report.added, report.refused) == (4, 1)


def test_refusals_are_all_counted_but_not_all_told(tmp_path: Path) -> None:
    file = kept(tmp_path / "a", "oops\n" * (DETAILS + 5), line("x"))
    report = result(import_files([file], Shelf().publish, source="local"))
    assert (report.added, report.refused, len(report.refusals)) == (1, DETAILS + 5, DETAILS)
    assert report.refusals[-1].line == DETAILS


def test_the_progress_is_told(tmp_path: Path) -> None:
    told: list[Progress] = []
    lines = [line(f"n{number}", readme="é" * 200) for number in range(500)]
    plain, packed = kept(tmp_path / "a", *lines), str(tmp_path / "b")
    (tmp_path / "b").write_bytes(gzip.compress("".join(lines).encode()))
    result(import_files([plain, packed], Shelf().publish, source="local", batch=10, progress=told.append))
    for file in (plain, packed):
        size = Path(file).stat().st_size
        steps = [step for step in told if step.file == file]
        assert {step.size for step in steps} == {size}
        assert steps[-1].read == size
    assert [step.entries for step in told] == sorted(step.entries for step in told)
    assert told[-1].entries == 500


def test_the_real_pages_are_imported(shared_data: Path) -> None:
    pages = [str(page) for page in sorted(shared_data.glob("registry_pages/*.json"))]
    report = result(import_files(pages, Shelf().publish, source="local"))
    assert (report.entries, report.refused) == (1_108, 0)
