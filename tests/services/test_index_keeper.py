"""Start from the file of the index, its checks, and its use by several processes with one database."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import TypeAlias

import pytest
from attrs import define, field, frozen
from twisted.internet.task import Clock

from directory_server.domain.changes import Change
from directory_server.domain.entries import Entry
from directory_server.domain.errors import Unavailable
from directory_server.domain.ports.storage import READ_BYTES
from directory_server.domain.search import Query
from directory_server.runtime.run_sync import inline, run_sync
from directory_server.runtime.timers import Listeners
from directory_server.search import ImpactIndex, MappedIndexFile, TextAnalysis
from directory_server.services import index_keeper
from directory_server.services.feed import Feed
from directory_server.services.index_keeper import INTERVAL, MAX_SHARE, IndexKeeper
from directory_server.sqlite import Database, SqliteTables, sqlite_store
from directory_server.sqlite._store import ENGINE
from directory_server.tables import StoredCuration, StoredEntries
from tests.logs import captured_lines

from ..conftest import Open


@define
class Reads:
    """What was read of a store: full loads, and the positions that changes were read from; reads raise `error`."""

    loads: int = 0
    positions: list[int] = field(factory=list)
    error: Exception | None = None


@frozen(slots=False)
class CountingStore(StoredEntries):
    """A store that records its reads."""

    reads: Reads = field(factory=Reads)

    async def current(self, after: str, limit: int, most: int = READ_BYTES, *, ruled: bool = False) -> Sequence[Change]:
        self.reads.loads += not after
        return await super().current(after, limit, most, ruled=ruled)

    async def changes(self, after: int, limit: int, most: int = READ_BYTES, *, ruled: bool = False) -> Sequence[Change]:
        self.reads.positions.append(after)
        if self.reads.error is not None:
            raise self.reads.error
        return await super().changes(after, limit, most, ruled=ruled)


class Process:
    """A process that has loaded its index, maybe from the file in `folder`."""

    def __init__(self, database: Database, bus: Listeners, folder: Path, clock: Clock | None = None) -> None:
        self.clock = clock or Clock()
        self.index = ImpactIndex(inline, sizes=(2, 6))
        self.store = CountingStore(SqliteTables(database), inline, TextAnalysis(), ENGINE)
        self.file = MappedIndexFile(self.index, folder)
        self.keeper = IndexKeeper(self.index, self.file, self.store, inline, self.clock.seconds)
        self.feed = Feed(self.store, bus, [self.index, self], [], self.clock, self.keeper)
        run_sync(self.feed.load())
        self.feed.startService()

    async def apply(self, changes: Sequence[Change]) -> None:
        """Do nothing: the index itself applies the changes."""

    def check(self, after: float = INTERVAL) -> None:
        self.clock.advance(after)
        run_sync(self.keeper.check(self.feed.seq))

    def found(self, keywords: str) -> list[str]:
        return sorted(hit.server_name for hit in run_sync(self.index.search(Query(keywords))).hits)

    @property
    def is_mapped(self) -> bool:
        """Whether the documents of the largest segment are in the file."""
        return not self.index.snapshot.parts[0].segment.docs.flags.owndata


@define
class Machine:
    """A database, and the processes that have it; the file of the index is in `folder`."""

    folder: Path
    database: Database
    bus: Listeners = field(factory=Listeners)
    numbers: int = 0

    def start(self) -> Process:
        return Process(self.database, self.bus, self.folder)

    def publish(self, count: int = 1) -> None:
        store = sqlite_store(self.database, inline, TextAnalysis())
        names = range(self.numbers, self.numbers + count)
        self.numbers += count
        entries = [Entry({"name": f"x/mail-{each}", "version": "1", "description": f"word{each}"}) for each in names]
        run_sync(store.publish("a", entries))
        self.bus.announce()

    def set_log_id(self, log_id: str) -> None:
        """Give the change log another id, as a restored backup has."""
        with self.database.transaction() as connection:
            connection.execute("UPDATE log SET id = ?", (log_id,))

    def log_id(self) -> str:
        return run_sync(sqlite_store(self.database, inline, TextAnalysis()).log_id())


NewMachine: TypeAlias = Callable[[], Machine]


@pytest.fixture
def new_machine(tmp_path: Path, open_database: Open) -> NewMachine:
    """Return a function that creates a machine without entries; the file of the index is the same for all."""
    numbers = count()

    def create() -> Machine:
        return Machine(tmp_path / "index", open_database("directory", tmp_path / str(next(numbers))))

    return create


@pytest.fixture
def machine(new_machine: NewMachine) -> Machine:
    machine = new_machine()
    machine.publish(20)
    return machine


@pytest.fixture
def logged() -> Iterator[list[str]]:
    with captured_lines("directory_server.services.index_keeper") as lines:
        yield lines


def test_a_start_reads_the_file_and_the_changes_after_it(machine: Machine) -> None:
    first = machine.start()
    first.check()
    machine.publish(3)
    second = machine.start()
    assert (first.store.reads.loads, second.store.reads.loads) == (1, 0)
    assert second.store.reads.positions[:2] == [19, 20]
    assert len(second.index) == len(first.index) == 23
    assert second.found("word21") == first.found("word21") == ["x/mail-21"]
    assert second.is_mapped
    machine.publish()
    assert second.found("word23") == ["x/mail-23"]


def test_a_process_that_wrote_the_file_uses_it(machine: Machine) -> None:
    process = machine.start()
    before = process.found("mail")
    process.check()
    assert process.is_mapped
    assert process.found("mail") == before
    machine.publish()
    assert len(process.index) == 21


def test_the_file_is_written_when_all_segments_were_merged(machine: Machine) -> None:
    process = machine.start()
    process.check()
    written = os.stat(process.file.path)
    process.check()
    machine.publish()
    process.check()
    assert os.path.samestat(os.stat(process.file.path), written)
    for _ in range(10):
        machine.publish(3)
    process.check()
    assert not os.path.samestat(os.stat(process.file.path), written)
    assert process.is_mapped


def test_the_file_is_written_after_many_changes(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_keeper, "MAX_CHANGES", 2)
    process = machine.start()
    process.check()
    written = os.stat(process.file.path)
    machine.publish()
    process.check()
    assert os.path.samestat(os.stat(process.file.path), written)
    machine.publish()
    process.check()
    assert not os.path.samestat(os.stat(process.file.path), written)


def test_writing_takes_a_small_share_of_the_time(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_keeper, "MAX_CHANGES", 1)
    process = machine.start()
    seconds, write = 100.0, process.file.write

    def write_slowly(log: str, seq: int, last: str) -> bool:
        process.clock.advance(seconds)
        return write(log, seq, last)

    monkeypatch.setattr(process.file, "write", write_slowly)
    process.check()
    written = os.stat(process.file.path)
    machine.publish()
    process.check(seconds / MAX_SHARE - 1)
    assert os.path.samestat(os.stat(process.file.path), written)
    process.check(1)
    assert not os.path.samestat(os.stat(process.file.path), written)


def test_other_processes_map_the_file_that_one_wrote(machine: Machine) -> None:
    one, other = machine.start(), machine.start()
    one.check()
    machine.publish(2)
    other.check()
    assert other.is_mapped
    assert len(other.index) == 22
    assert os.stat(one.file.path).st_ino == other.file._seen[1] == one.file._seen[1]


def test_a_restored_backup_replaces_the_index(machine: Machine, logged: list[str]) -> None:
    machine.start().check()
    machine.set_log_id("ffffffffffff")
    process = machine.start()
    assert process.store.reads.loads == 1
    assert len(process.index) == 20
    assert "another change log" in logged[0]
    process.check()
    assert machine.start().store.reads.loads == 0


def test_a_log_that_ends_before_the_file_replaces_the_index(new_machine: NewMachine, logged: list[str]) -> None:
    machine, older = new_machine(), new_machine()
    machine.publish(20)
    machine.start().check()
    older.publish(5)
    older.set_log_id(machine.log_id())
    process = older.start()
    assert process.store.reads.loads == 1
    assert len(process.index) == 5
    assert process.index._journal is None
    assert "no change 20" in logged[0]


def test_another_history_replaces_the_index(new_machine: NewMachine, logged: list[str]) -> None:
    machine, other = new_machine(), new_machine()
    machine.publish(20)
    machine.start().check()
    other.numbers = 10
    other.publish(25)
    other.set_log_id(machine.log_id())
    process = other.start()
    assert process.store.reads.loads == 1
    assert len(process.index) == 25
    assert "x/mail-5" not in process.found("mail")
    assert "no change 20, or another one" in logged[0]


def test_an_index_of_another_size_than_the_store_is_replaced(new_machine: NewMachine, logged: list[str]) -> None:
    machine, other = new_machine(), new_machine()
    machine.publish(20)
    machine.start().check()
    other.publish(18)
    run_sync(StoredCuration(SqliteTables(other.database)).mark("x/mail-5", "hidden", True))
    other.numbers = 19
    other.publish()
    other.set_log_id(machine.log_id())
    process = other.start()
    assert process.store.reads.loads == 1
    assert len(process.index) == 18
    assert "x/mail-5" not in process.found("mail")
    assert "the directory has 18" in logged[0]


def test_a_damaged_file_is_ignored_and_written_again(machine: Machine, logged: list[str]) -> None:
    first = machine.start()
    first.check()
    os.truncate(first.file.path, 5_000)
    second = machine.start()
    assert second.store.reads.loads == 1
    assert len(second.index) == 20
    assert len(logged) == 1
    second.check()
    assert machine.start().store.reads.loads == 0


def test_a_file_that_cannot_be_written_is_logged_once(
    machine: Machine, logged: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    process = machine.start()
    with monkeypatch.context() as patch:

        def fail(_: int) -> None:
            raise OSError(28, "No space left on device")

        patch.setattr(os, "fsync", fail)
        process.check()
        process.check()
    assert [each.partition(" cannot ")[2] for each in logged] == ["be written: No space left on device"]
    assert len(process.index) == 20
    assert not list(machine.folder.iterdir())
    process.check()
    assert process.is_mapped


def test_a_folder_that_cannot_be_created_only_costs_the_file(machine: Machine, logged: list[str]) -> None:
    machine.folder.mkdir()
    (machine.folder / "file").touch()
    process = Machine(machine.folder / "file" / "folder", machine.database, machine.bus).start()
    process.check()
    assert len(process.index) == 20
    assert logged


def test_changes_that_cannot_be_read_end_a_check(machine: Machine) -> None:
    one, other = machine.start(), machine.start()
    one.check()
    other.store.reads.error = Unavailable("locked")
    other.check()
    assert not other.is_mapped
    assert other.index._journal is None
    other.store.reads.error = None
    other.check()
    other.check()
    assert other.is_mapped


def test_changes_during_a_load_are_not_missed(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine.start().check()
    count_entries = CountingStore.count

    async def publish_then_count(self: CountingStore) -> int:
        monkeypatch.setattr(CountingStore, "count", count_entries)
        machine.publish()
        return await count_entries(self)

    monkeypatch.setattr(CountingStore, "count", publish_then_count)
    process = machine.start()
    assert process.store.reads.loads == 0
    assert len(process.index) == 21
