"""`directory-server backup` and `restore`: copies of a data directory in use."""

from __future__ import annotations

import json
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from directory_server import sqlite, tables
from directory_server.config import Config
from directory_server.domain.work import BACKUP
from directory_server.runtime.run_sync import run_sync
from directory_server.services.running import RunningServer, ServerRecord
from directory_server.storage._backup import MANIFEST, put_backup, read_backup
from directory_server.tables import StoredWork

from .conftest import CommandLine


def test_a_backup_has_what_is_committed(directory: CommandLine, tmp_path: Path) -> None:
    directory.succeed("key", "create", "--label", "laptop")
    # A reader and an open transaction, as of a server.
    with closing(sqlite3.connect(directory.data / "directory.db")) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM log").fetchall()
        assert "verified" in directory.succeed("backup", str(tmp_path / "copy"))
    files = {path.name: path.stat().st_mode & 0o777 for path in (tmp_path / "copy").iterdir()}
    assert files == dict.fromkeys(("backup.json", "directory.db", "quota.db", "session.secret"), 0o600)
    directory.succeed("key", "create", "--label", "later")
    output = directory.succeed("restore", str(tmp_path / "copy"))
    assert "Keys missing from the backup; create them again:" in output
    assert "later" in output
    assert "laptop" in directory.succeed("key", "list")
    assert "later" not in directory.succeed("key", "list")


def test_keys_that_were_revoked_after_the_backup_stay_revoked(directory: CommandLine, tmp_path: Path) -> None:
    directory.succeed("key", "create", "--label", "stolen")
    directory.succeed("backup", str(tmp_path / "copy"))
    (key,) = directory.all_keys()
    directory.succeed("key", "revoke", key.id)
    assert "Revoked again, keys:" in directory.succeed("restore", str(tmp_path / "copy"))
    (key,) = directory.all_keys()
    assert key.revoked_at is not None


def test_files_from_before_may_be_damaged(directory: CommandLine, tmp_path: Path) -> None:
    directory.succeed("key", "create", "--label", "laptop")
    directory.succeed("backup", str(tmp_path / "copy"))
    target = tmp_path / "damaged"
    target.mkdir()
    (target / "directory.db").write_bytes(b"no database" * 1_000)
    result = directory.run("--data-dir", str(target), "restore", str(tmp_path / "copy"))
    assert result.exit_code == 0, result.output
    assert "Nothing can be copied from the files from before" in result.stderr
    assert "Valid keys." in result.stdout


@pytest.mark.parametrize("name", ["directory.db", "quota.db", "session.secret"])
def test_a_damaged_backup_changes_nothing(directory: CommandLine, tmp_path: Path, name: str) -> None:
    directory.succeed("backup", str(tmp_path / "copy"))
    content = bytearray((tmp_path / "copy" / name).read_bytes())
    content[len(content) // 2] ^= 1
    (tmp_path / "copy" / name).write_bytes(content)
    before = {path.name: path.stat().st_ino for path in directory.data.iterdir()}
    assert "differs from its digest" in directory.fail("restore", str(tmp_path / "copy"))
    assert {path.name: path.stat().st_ino for path in directory.data.iterdir()} == before


def test_a_copy_of_a_damaged_database_is_no_backup(directory: CommandLine, tmp_path: Path) -> None:
    directory.succeed("key", "create", "--label", "laptop")
    with closing(sqlite3.connect(directory.data / "directory.db")) as database:
        database.execute("PRAGMA foreign_keys = OFF")
        database.execute("DELETE FROM api_key")
        database.commit()
    assert "is damaged" in directory.fail("backup", str(tmp_path / "copy"))
    assert not (tmp_path / "copy").exists()
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".copy")] == []


def test_a_folder_with_files_is_not_written(directory: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").touch()
    assert "must be a new or empty folder" in directory.fail("backup", str(tmp_path / "full"))
    assert "is not a backup" in directory.fail("restore", str(tmp_path / "full"))


def test_a_restore_needs_a_stopped_server(directory: CommandLine, tmp_path: Path) -> None:
    directory.succeed("backup", str(tmp_path / "copy"))
    record = ServerRecord(directory.data, RunningServer(1, "1", 0, {}))
    try:
        assert "Stop it" in directory.fail("restore", str(tmp_path / "copy"))
    finally:
        record.close()


def test_the_last_backup_is_known(directory: CommandLine, tmp_path: Path) -> None:
    work = StoredWork(directory.accounts._tables)
    directory.fail("backup", str(directory.data))
    assert run_sync(work.all()) == {}
    directory.succeed("backup", str(tmp_path / "copy"))
    assert run_sync(work.all())[BACKUP].has_ended


def test_files_of_features_are_moved_away_with_the_databases(directory: CommandLine, tmp_path: Path) -> None:
    directory.succeed("backup", str(tmp_path / "copy"))
    (directory.data / "audit-head").touch()
    (directory.data / "notes.txt").touch()
    directory.succeed("restore", str(tmp_path / "copy"))
    (before,) = directory.data.glob("before-restore-*")
    assert (before / "audit-head").exists()
    assert not (directory.data / "audit-head").exists()
    assert (directory.data / "notes.txt").exists()


def test_a_killed_restore_leaves_all_from_before_or_all_of_the_backup(
    directory: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory.succeed("key", "create", "--label", "stolen")
    directory.succeed("backup", str(tmp_path / "copy"))
    directory.succeed("key", "revoke", directory.all_keys()[0].id)
    directory.succeed("key", "create", "--label", "later")
    old, new = {"stolen": True, "later": False}, {"stolen": True}
    assert _keys(directory.data) == old
    backup = read_backup(tmp_path / "copy")
    seen = []
    for steps in range(100):
        folder = tmp_path / f"killed-{steps}"
        shutil.copytree(directory.data, folder)
        with monkeypatch.context() as patch:
            left = count(steps, -1)
            for owner, name in ((Path, "replace"), (Path, "unlink"), (Path, "rename"), (shutil, "rmtree")):
                patch.setattr(owner, name, _until_killed(left, getattr(owner, name)))
            with suppress(Killed):
                put_backup(Config(data_dir=folder), tmp_path / "copy", backup, 0.0)
                break
        seen.append(_keys(folder))
    assert _keys(folder) == new
    assert seen[0] == old
    assert all(keys in (old, new) for keys in seen)


class Killed(BaseException):
    """The process has been killed."""


def _until_killed(left: Iterator[int], call: Callable[..., object]) -> Callable[..., object]:
    def run(*arguments: Any, **options: Any) -> object:
        if next(left) <= 0:
            raise Killed
        return call(*arguments, **options)

    return run


def _keys(folder: Path) -> dict[str, bool]:
    """Return whether each key of a data directory is revoked, by its label."""
    data = sqlite.DataDirectory(folder)
    try:
        keys = tables.StoredKeyRing(sqlite.SqliteTables(data.directory), time.time)
        return {key.label: key.revoked_at is not None for key in run_sync(keys.list())}
    finally:
        data.close()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"files": {}}, "does not name the files of one"),
        ({"files": {"quota.db": "0" * 64}}, "does not name the files of one"),
        ({"files": {"directory.db": "0" * 64, "../audit.key": "0" * 64}}, "does not name the files of one"),
        ({"made_at": 1e300}, "no readable backup.json"),
    ],
)
def test_a_manifest_that_was_changed_changes_nothing(
    directory: CommandLine, tmp_path: Path, wrong: dict[str, Any], message: str
) -> None:
    directory.succeed("backup", str(tmp_path / "copy"))
    manifest = tmp_path / "copy" / MANIFEST
    manifest.write_text(json.dumps({**json.loads(manifest.read_text()), **wrong}))
    before = {path.name: path.stat().st_ino for path in directory.data.iterdir()}
    assert message in directory.fail("restore", str(tmp_path / "copy"))
    assert {path.name: path.stat().st_ino for path in directory.data.iterdir()} == before
