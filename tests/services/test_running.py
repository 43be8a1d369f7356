"""Records of running servers."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from directory_server.services.running import FOLDER, RunningServer, ServerRecord, running_servers

SERVER = RunningServer(123, "1.2.3", 1_700_000_000.0, {"quota.limit": "20", "database": "(secret)"})


def test_a_record_exists_while_the_server_runs(tmp_path: Path) -> None:
    assert list(running_servers(tmp_path)) == []
    record = ServerRecord(tmp_path, SERVER)
    later = ServerRecord(tmp_path, RunningServer(99, "1.2.3", 1_700_000_001.0, {}))
    assert [each.pid for each in running_servers(tmp_path)] == [123, 99]
    assert running_servers(tmp_path)[0] == SERVER
    later.close()
    record.close()
    assert list(running_servers(tmp_path)) == []
    assert list((tmp_path / FOLDER).iterdir()) == []


def test_only_the_user_can_read_a_record(tmp_path: Path) -> None:
    record = ServerRecord(tmp_path, SERVER)
    (path,) = (tmp_path / FOLDER).iterdir()
    assert (path.stat().st_mode & 0o777, (tmp_path / FOLDER).stat().st_mode & 0o777) == (0o600, 0o700)
    record.close()


def test_the_record_of_a_killed_server_is_deleted(tmp_path: Path) -> None:
    record = ServerRecord(tmp_path, SERVER)
    # As the kernel does when a process ends.
    os.close(record._descriptor)
    assert list(running_servers(tmp_path)) == []
    assert list((tmp_path / FOLDER).iterdir()) == []


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"{}", b'{"pid":"x","settings":{}}', b"\xff" * 100])
def test_a_malformed_record_is_left_out(tmp_path: Path, content: bytes) -> None:
    record = ServerRecord(tmp_path, SERVER)
    (path,) = (tmp_path / FOLDER).iterdir()
    path.write_bytes(content)
    assert list(running_servers(tmp_path)) == []
    record.close()


def test_a_folder_that_cannot_be_written_raises(tmp_path: Path) -> None:
    (tmp_path / FOLDER).write_text("a file")
    with pytest.raises(OSError, match="exists"):
        ServerRecord(tmp_path, SERVER)
    assert list(running_servers(tmp_path)) == []
