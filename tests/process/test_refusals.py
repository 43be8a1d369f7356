"""What keeps a server from starting is told in one line, and the process ends with 1."""

from __future__ import annotations

import socket
import sqlite3
from pathlib import Path

import pytest

from .conftest import FOREGROUND, LISTEN, environment, run_twistd

pytestmark = pytest.mark.process

TAC = Path(__file__).parent.parent.parent / "tac" / "directory.tac"


def refused(folder: Path, *options: object, data: object = "data", listen: str = LISTEN) -> str:
    """Return the last line of what a start that must fail has said."""
    done = run_twistd(*FOREGROUND, "directory", "-d", data, "-l", listen, *options, cwd=folder)
    assert done.returncode == 1, done.stdout
    assert "Traceback" not in done.stdout
    return done.stdout.splitlines()[-1]


def test_a_taken_port(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        said = refused(tmp_path, listen=f"tcp:{port}:interface=127.0.0.1")
    assert f"Cannot listen on 127.0.0.1:{port}: [Errno" in said


@pytest.mark.parametrize(
    ("setting", "said"),
    [("quota.limt=1", "quota.limt (--set): is not a setting"), ("quota.limit=many", "quota.limit (--set): must be")],
)
def test_a_setting_that_cannot_be(tmp_path: Path, setting: str, said: str) -> None:
    assert said in refused(tmp_path, "--set", setting)
    assert not (tmp_path / "data").exists()


def test_an_endpoint_that_cannot_be(tmp_path: Path) -> None:
    assert "listen: must be endpoints such as tcp:8080, not 'tcp:x'" in refused(tmp_path, listen="tcp:x")
    assert not (tmp_path / "data").exists()


def test_a_port_that_cannot_be(tmp_path: Path) -> None:
    assert "Cannot listen on tcp:99999: " in refused(tmp_path, listen="tcp:99999")


def test_a_data_directory_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "data").touch()
    assert f"Cannot serve {tmp_path}/data: " in refused(tmp_path)


def test_a_data_directory_that_cannot_be_written_to(tmp_path: Path) -> None:
    # /proc refuses root, too.
    assert "Cannot serve /proc/sys: " in refused(tmp_path, data="/proc/sys")


def test_a_database_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "directory.db").write_bytes(bytes(range(256)) * 40)
    said = refused(tmp_path)
    assert "directory.db" in said
    assert "not an SQLite database" in said


def test_a_database_of_a_newer_version(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    with sqlite3.connect(tmp_path / "data" / "directory.db") as connection:
        connection.execute("PRAGMA user_version = 1000")
    connection.close()
    said = refused(tmp_path)
    assert "directory.db was written by a newer version" in said
    assert "1000" in said


def test_the_tac_file_refuses_in_one_line(tmp_path: Path) -> None:
    done = run_twistd("-n", "--pidfile=", "-oy", TAC, cwd=tmp_path, env=environment(DIRECTORY_SERVER_LISTEN="tcp:x"))
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1].startswith("directory: listen: must be endpoints")
    assert "Traceback" not in done.stdout
