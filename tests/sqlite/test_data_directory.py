"""Data directory: its files, their durability and closing."""

from __future__ import annotations

from pathlib import Path

import pytest

from directory_server.domain.errors import Unavailable
from directory_server.sqlite import Database, DataDirectory
from directory_server.sqlite._connection import Synchronous


def is_closed(database: Database) -> bool:
    try:
        with database.connection():
            return False
    except Unavailable:
        return True


def test_has_a_catalogue_a_quota_database_and_a_session_secret(tmp_path: Path) -> None:
    data = DataDirectory(tmp_path / "data")
    assert len(data.session_secret()) == 32
    data.close()
    assert sorted(path.name for path in data.directory.path.parent.iterdir()) == [
        "directory.db",
        "quota.db",
        "session.secret",
    ]


def synchronous_level(database: Database) -> int:
    with database.connection() as connection:
        return int(connection.execute("PRAGMA synchronous").fetchone()[0])


@pytest.mark.parametrize(("synchronous", "level"), [("normal", 1), ("full", 2)])
def test_quota_has_the_configured_durability_and_keys_have_full_durability(
    tmp_path: Path, synchronous: Synchronous, level: int
) -> None:
    data = DataDirectory(tmp_path, synchronous=synchronous)
    assert (synchronous_level(data.quota), synchronous_level(data.directory)) == (level, 2)
    data.close()


def test_close_closes_both_databases(tmp_path: Path) -> None:
    data = DataDirectory(tmp_path)
    assert not is_closed(data.directory)
    data.close()
    assert is_closed(data.directory)
    assert is_closed(data.quota)


@pytest.mark.parametrize("name", ["directory.db", "quota.db"])
def test_an_empty_file_beside_others_is_rejected(tmp_path: Path, name: str) -> None:
    DataDirectory(tmp_path).close()
    path = tmp_path / name
    path.write_bytes(b"")
    with pytest.raises(Unavailable, match=rf"{name} is empty \(0 bytes\) beside \w+\.db: its content is lost"):
        DataDirectory(tmp_path)
    assert path.stat().st_size == 0
    # The operator decides to begin with a new one.
    path.unlink()
    DataDirectory(tmp_path).close()


def test_empty_files_of_a_first_start_that_was_interrupted_are_used(tmp_path: Path) -> None:
    (tmp_path / "directory.db").touch()
    DataDirectory(tmp_path).close()
