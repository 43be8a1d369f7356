"""Periodic check of the data directory."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from attrs import define, field
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock

from directory_server.runtime.run_sync import inline
from directory_server.sqlite import DataDirectory, StorageWatch
from directory_server.sqlite._data_directory import INTERVAL, STALLED


@define
class WatchedDirectory:
    """A watched data directory. `lost` records the reasons that the watch reports."""

    data: DataDirectory
    clock: Clock = field(factory=Clock)
    lost: list[str] = field(factory=list)

    def start(self, offload: Any = inline) -> StorageWatch:
        service = StorageWatch(self.data, offload, self.clock, self.lost.append)
        service.startService()
        return service


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[WatchedDirectory]:
    data = DataDirectory(tmp_path / "data")
    yield WatchedDirectory(data)
    data.close()


def delete_folder(folder: Path) -> None:
    shutil.rmtree(folder)


def replace_folder(folder: Path) -> None:
    folder.rename(folder.with_name("old"))
    shutil.copytree(folder.with_name("old"), folder)


def replace_database(folder: Path) -> None:
    (folder / "directory.db").rename(folder / "old.db")
    shutil.copy(folder / "old.db", folder / "directory.db")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (delete_folder, "directory.db has been deleted or moved."),
        (replace_folder, "directory.db has been replaced by another file."),
        (replace_database, "directory.db has been replaced by another file."),
    ],
)
def test_a_lost_directory_is_reported_once(
    watched: WatchedDirectory, change: Callable[[Path], None], reason: str
) -> None:
    service = watched.start()
    watched.clock.advance(INTERVAL)
    assert watched.lost == []
    change(watched.data.folder)
    watched.clock.pump([INTERVAL] * 3)
    assert watched.lost == [f"{watched.data.folder}/{reason}"]
    service.stopService()


@pytest.mark.parametrize("name", ["directory.db", "quota.db"])
def test_a_process_stops_when_a_newer_version_has_upgraded_a_database(watched: WatchedDirectory, name: str) -> None:
    service, path = watched.start(), watched.data.folder / name
    with closing(sqlite3.connect(path)) as newer:
        newer.execute("INSERT INTO applied_step VALUES ('tables', 99, 99, 0)")
        newer.commit()
    watched.clock.pump([INTERVAL] * 3)
    (reason,) = watched.lost
    assert reason.startswith(f"A newer version of the directory server has upgraded {path}: step 99 of tables needs ")
    service.stopService()


def test_a_check_that_hangs_is_a_fault_until_it_ends(watched: WatchedDirectory) -> None:
    check_ends: Deferred[None] = Deferred()

    async def hang(function: Callable[[], None]) -> None:
        await check_ends
        function()

    service = watched.start(hang)
    watched.clock.pump([INTERVAL] * int(STALLED / INTERVAL - 1))
    assert watched.data.availability.faults == []
    watched.clock.advance(INTERVAL)
    assert [fault.code for fault in watched.data.availability.faults] == ["TIMEOUT"]
    assert watched.data.available() == {"directory.db": False, "quota.db": False}
    check_ends.callback(None)
    watched.clock.advance(INTERVAL)
    assert watched.data.availability.faults == []
    service.stopService()
