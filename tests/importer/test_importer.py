"""Import: valid entries are published in batches; others are reported."""

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

from ..kinds import AGENT, SKILL

T = TypeVar("T")


def result(coroutine: Coroutine[Deferred[Any], Any, T]) -> T:
    """Return the result of a coroutine that never waits, or raise its exception."""
    outcomes: list[T | Failure] = []
    Deferred.fromCoroutine(coroutine).addBoth(outcomes.append)
    [outcome] = outcomes
    if isinstance(outcome, Failure):
        outcome.raiseException()
    return outcome


class RecordingStore:
    """Records batches of entries; raises Unavailable after `full_after` of them."""

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
        return [self._store(entry) for entry in entries]

    def _store(self, entry: Entry) -> Outcome:
        before = self._versions.get(entry.name)
        self._versions[entry.name] = entry.version
        return "added" if before is None else "unchanged" if before == entry.version else "changed"


def line(name: str, **members: Any) -> str:
    return json.dumps({"server": {"name": name, "version": "1", "description": "d", **members}}) + "\n"


def test_a_file_may_be_a_catalog_and_lines_its_entries(tmp_path: Path) -> None:
    catalog, lines = tmp_path / "ard.json", tmp_path / "lines.jsonl"
    catalog.write_text(json.dumps({"specVersion": "1.0", "entries": [AGENT, {**SKILL, "data": 5}]}, indent=2))
    lines.write_text(f"{json.dumps(SKILL)}\n{line('a/b')}")
    store = RecordingStore()
    report = result(import_files([str(catalog), str(lines)], store.publish, source="local"))
    assert store.batches == [["com.acme/agent:routes", "com.acme/skill:invoice-check", "a/b"]]
    assert report.rejections == [
        RejectedEntry(str(catalog), 1, "entries[1]: the skill's card: must be a string, not a number.")
    ]


def test_entries_are_official_only_with_the_option(tmp_path: Path) -> None:
    published: list[Entry] = []

    async def publish(source: str, entries: Sequence[Entry]) -> Sequence[Outcome]:
        published.extend(entries)
        return ["added"] * len(entries)

    server = {"name": "x", "version": "1", "description": "d"}
    listed = {"server": server, "_meta": {OFFICIAL: {"status": "active"}}, "official": True, "is_official": True}
    file = write_file(
        tmp_path / "a", json.dumps(listed) + "\n", json.dumps({"server": server, "official": True}) + "\n"
    )
    for official in (False, True):
        result(import_files([file], publish, source="local", official=official))
    assert [entry.is_official for entry in published] == [False, False, True, False]


def write_file(path: Path, *lines: str) -> str:
    path.write_text("".join(lines))
    return str(path)


def test_the_outcomes_are_counted_and_the_source_is_named(tmp_path: Path) -> None:
    store = RecordingStore()
    first = write_file(tmp_path / "a", line("x"), line("y"))
    second = write_file(tmp_path / "b", line("x"), line("y", version="2"), line("z"))
    report = result(import_files([first, second], store.publish, source="local"))
    assert report == ImportReport(added=3, changed=1, unchanged=1)
    assert report.entries == 5
    assert store.sources == {"local"}
    assert store.batches == [["x", "y", "x", "y", "z"]]


def test_invalid_files_and_entries_are_rejected_and_the_import_continues(tmp_path: Path) -> None:
    store = RecordingStore()
    files = [
        str(tmp_path),
        write_file(
            tmp_path / "a", line("x"), "not JSON\n", '{"name": "n", "version": 1, "description": ""}\n', line("y")
        ),
        write_file(tmp_path / "b", "[", line("z"), ", null, [", line("w")),
        write_file(tmp_path / "c", line("v")),
    ]
    report = result(import_files(files, store.publish, source="local"))
    assert store.batches == [["x", "y", "v"]]
    assert (report.added, report.rejected, report.unfinished) == (3, 4, 2)
    assert [(rejection.file, rejection.line) for rejection in report.rejections] == [
        (files[0], None),
        (files[1], 2),
        (files[1], 3),
        (files[2], None),
    ]
    assert report.rejections[0] == RejectedEntry(files[0], None, "The file cannot be read: Is a directory.")
    assert "not JSON" in report.rejections[1].reason
    assert report.rejections[2].reason == "server.version: must be a string."
    assert report.rejections[3].reason.startswith("The file is not JSON: ")
    assert "line 3 column 1" in report.rejections[3].reason


def test_invalid_entry_of_a_page_is_reported_with_its_place(tmp_path: Path) -> None:
    store = RecordingStore()
    report = result(
        import_files([write_file(tmp_path / "a", f'{{"servers": [{line("x")}, null]}}')], store.publish, source="local")
    )
    assert (store.batches, report.rejected, report.unfinished) == ([["x"]], 1, 0)
    assert report.rejections[0].reason.startswith("servers[1]: An entry must be an object")


def test_a_transaction_has_at_most_a_batch_of_entries(tmp_path: Path) -> None:
    store = RecordingStore()
    file = write_file(tmp_path / "a", *(line(f"n{number}") for number in range(7)))
    assert result(import_files([file], store.publish, source="local", batch=3)).added == 7
    assert [len(batch) for batch in store.batches] == [3, 3, 1]


def test_a_transaction_of_large_entries_has_fewer(tmp_path: Path) -> None:
    store = RecordingStore()
    large = "x" * (BATCH_BYTES // 5)
    file = write_file(tmp_path / "a", *(line(f"n{number}", readme=large) for number in range(7)))
    assert result(import_files([file], store.publish, source="local")).added == 7
    assert [len(batch) for batch in store.batches] == [5, 2]


def test_nothing_is_published_without_valid_entries(tmp_path: Path) -> None:
    store = RecordingStore()
    assert result(import_files([write_file(tmp_path / "a", "[]")], store.publish, source="local")) == ImportReport()
    assert result(import_files([write_file(tmp_path / "a")], store.publish, source="local")).unfinished == 1
    assert store.batches == []


def test_full_disk_ends_the_import_with_a_report(tmp_path: Path) -> None:
    store = RecordingStore(full_after=2)
    file = write_file(tmp_path / "a", "not JSON\n", *(line(f"n{number}") for number in range(9)))
    report = ImportReport()
    with pytest.raises(Unavailable):
        result(import_files([file], store.publish, source="local", batch=2, report=report))
    assert store.batches == [["n0", "n1"], ["n2", "n3"]]
    assert (report.added, report.rejected) == (4, 1)


def test_rejected_entries_are_all_counted_and_the_first_listed(tmp_path: Path) -> None:
    file = write_file(tmp_path / "a", "not JSON\n" * (DETAILS + 5), line("x"))
    report = result(import_files([file], RecordingStore().publish, source="local"))
    assert (report.added, report.rejected, len(report.rejections)) == (1, DETAILS + 5, DETAILS)
    assert report.rejections[-1].line == DETAILS


def test_progress_is_reported(tmp_path: Path) -> None:
    steps_seen: list[Progress] = []
    lines = [line(f"n{number}", readme="é" * 200) for number in range(500)]
    plain, packed = write_file(tmp_path / "a", *lines), str(tmp_path / "b")
    (tmp_path / "b").write_bytes(gzip.compress("".join(lines).encode()))
    result(
        import_files([plain, packed], RecordingStore().publish, source="local", batch=10, progress=steps_seen.append)
    )
    for file in (plain, packed):
        size = Path(file).stat().st_size
        steps = [step for step in steps_seen if step.file == file]
        assert {step.size for step in steps} == {size}
        assert steps[-1].read == size
    assert [step.entries for step in steps_seen] == sorted(step.entries for step in steps_seen)
    assert steps_seen[-1].entries == 500
