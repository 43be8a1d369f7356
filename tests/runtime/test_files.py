"""Files that an operator names: pipes, devices and folders in their place."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from threading import Thread, active_count

import pytest

from directory_server import importer
from directory_server.config import ConfigError, load
from directory_server.domain.errors import Unavailable
from directory_server.mirror import UpstreamFailed
from directory_server.mirror._upstream import headers
from directory_server.runtime import files
from directory_server.runtime.files import open_file, read_regular_file
from directory_server.services.running import FOLDER, running_servers
from directory_server.sqlite import session_secret


@pytest.fixture
def pipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A pipe that no process writes to."""
    monkeypatch.setattr(files, "WAIT", 0.05)
    path = tmp_path / "pipe"
    os.mkfifo(path)
    return path


def test_a_pipe_without_a_writer_is_an_error(pipe: Path) -> None:
    before = active_count()
    with pytest.raises(TimeoutError, match="It is a pipe that no process writes to"):
        open_file(pipe)
    # The thread that waited for a writer has ended.
    assert active_count() == before


def test_a_pipe_with_a_writer_is_read_to_its_end(pipe: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "WAIT", 10.0)
    content = b"x" * 200_000
    writer = Thread(target=pipe.write_bytes, args=[content])
    writer.start()
    with open_file(pipe) as opened:
        assert opened.read() == content
    writer.join()


def test_a_pipe_of_a_shell_is_read() -> None:
    read, write = os.pipe()
    os.write(write, b"listen = [")
    os.close(write)
    with open_file(f"/dev/fd/{read}") as opened:
        assert opened.read() == b"listen = ["
    os.close(read)


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/tty", "/dev/null"])
def test_only_regular_files_hold_secrets(path: str) -> None:
    with pytest.raises(OSError, match=r"It is not a regular file|No such device"):
        read_regular_file(path)


def test_errors_name_the_pipe(pipe: Path) -> None:
    with pytest.raises(ConfigError, match=r"/pipe: cannot be read: It is a pipe that no process writes to$"):
        load(file=pipe, environ={}, settings=[])
    with pytest.raises(UpstreamFailed, match=r"/pipe, which cannot be read: It is not a regular file\."):
        headers([f"A: file:{pipe}"], {})
    report = importer.ImportReport()
    assert list(importer.batches([str(pipe)], report)) == []
    assert [each.reason for each in report.rejections] == [
        "The file cannot be read: It is a pipe that no process writes to."
    ]


@pytest.mark.parametrize(("create", "reason"), [(os.mkfifo, "It is not a regular file"), (os.mkdir, "Is a directory")])
def test_other_things_in_place_of_the_session_secret(
    tmp_path: Path, create: Callable[[Path], None], reason: str
) -> None:
    create(tmp_path / "session.secret")
    with pytest.raises(Unavailable, match=rf"session\.secret cannot be read or created: {reason}\."):
        session_secret(tmp_path)


def test_a_pipe_among_the_records_of_servers_is_deleted(tmp_path: Path) -> None:
    (tmp_path / FOLDER).mkdir()
    os.mkfifo(tmp_path / FOLDER / "1-a.json")
    assert list(running_servers(tmp_path)) == []
    assert list((tmp_path / FOLDER).iterdir()) == []
