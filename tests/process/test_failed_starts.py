"""A server that cannot start prints the reason in one line and exits with code 1."""

from __future__ import annotations

import socket
import sqlite3
from pathlib import Path

import pytest

from .conftest import FOREGROUND, LISTEN, environment, run_twistd

pytestmark = pytest.mark.process

TAC = Path(__file__).parent.parent.parent / "tac" / "directory.tac"


def fail_to_start(folder: Path, *options: object, data: object = "data", listen: str = LISTEN) -> str:
    """Start a server, which must fail; return the last line of its output."""
    process = run_twistd(*FOREGROUND, "directory", "-d", data, "-l", listen, *options, cwd=folder)
    assert process.returncode == 1, process.stdout
    assert "Traceback" not in process.stdout
    return process.stdout.splitlines()[-1]


def test_port_in_use(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        message = fail_to_start(tmp_path, listen=f"tcp:{port}:interface=127.0.0.1")
    assert f"Cannot listen on 127.0.0.1:{port}: [Errno" in message


def test_invalid_setting(tmp_path: Path) -> None:
    assert "quota.limt (--set): is not a setting" in fail_to_start(tmp_path, "--set", "quota.limt=1")
    assert not (tmp_path / "data").exists()


def test_invalid_endpoint(tmp_path: Path) -> None:
    assert "listen (--listen): must have a port from 0 to 65535" in fail_to_start(tmp_path, listen="tcp:x")
    assert not (tmp_path / "data").exists()


def test_data_directory_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "data").touch()
    assert f"Cannot serve {tmp_path}/data: " in fail_to_start(tmp_path)


def test_data_directory_is_not_writable(tmp_path: Path) -> None:
    # Not even root can write to /proc.
    assert "Cannot serve /proc/sys: " in fail_to_start(tmp_path, data="/proc/sys")


def test_database_is_not_sqlite(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "directory.db").write_bytes(bytes(range(256)) * 40)
    message = fail_to_start(tmp_path)
    assert "directory.db" in message
    assert "not an SQLite database" in message


def test_database_of_a_newer_version(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    with sqlite3.connect(tmp_path / "data" / "directory.db") as connection:
        connection.execute("PRAGMA user_version = 1000")
    connection.close()
    message = fail_to_start(tmp_path)
    assert "directory.db was written by a newer version" in message
    assert "1000" in message


def test_tac_file_reports_an_invalid_setting_in_one_line(tmp_path: Path) -> None:
    process = run_twistd("-n", "--pidfile=", "-oy", TAC, cwd=tmp_path, env=environment(DIRECTORY_SERVER_LISTEN="tcp:x"))
    assert process.returncode == 1
    assert process.stdout.splitlines()[-1].startswith("directory: DIRECTORY_SERVER_LISTEN (environment): must have")
    assert "Traceback" not in process.stdout
