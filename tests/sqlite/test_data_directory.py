from __future__ import annotations

from pathlib import Path

import pytest

from directory_server.domain.errors import Unavailable
from directory_server.sqlite import Database, DataDirectory
from directory_server.sqlite._connection import Synchronous


def closed(database: Database) -> bool:
    try:
        with database.connection():
            return False
    except Unavailable:
        return True


def test_keeps_quota_apart_from_the_catalogue_and_one_secret_for_both(tmp_path: Path) -> None:
    data = DataDirectory(tmp_path / "data")
    assert len(data.session_secret()) == 32
    data.close()
    assert sorted(path.name for path in data.directory.path.parent.iterdir()) == [
        "directory.db",
        "quota.db",
        "session.secret",
    ]


def synchronous(database: Database) -> int:
    with database.connection() as connection:
        return int(connection.execute("PRAGMA synchronous").fetchone()[0])


@pytest.mark.parametrize(("asked", "number"), [("normal", 1), ("full", 2)])
def test_commits_spent_quota_as_safely_as_asked_and_keys_always(
    tmp_path: Path, asked: Synchronous, number: int
) -> None:
    data = DataDirectory(tmp_path, synchronous=asked)
    assert (synchronous(data.quota), synchronous(data.directory)) == (number, 2)
    data.close()


def test_closes_both(tmp_path: Path) -> None:
    data = DataDirectory(tmp_path)
    assert not closed(data.directory)
    data.close()
    assert closed(data.directory)
    assert closed(data.quota)
