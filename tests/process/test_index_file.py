"""The file of the index with real processes: written after a start, mapped by the next."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from .conftest import Installation, Server, until

pytestmark = pytest.mark.process


def index_files(installation: Installation) -> list[Path]:
    return list(installation.data.glob("index-*.bin"))


def maps_file(server: Server, file: Path) -> bool:
    """Return whether the process has mapped this file, and not one that it replaced (proc_pid_maps(5))."""
    inode = str(os.stat(file).st_ino)
    lines = Path(f"/proc/{server.process.pid}/maps").read_text().splitlines()
    return any(line.endswith(str(file)) and line.split()[4] == inode for line in lines)


def test_a_start_uses_the_file_of_the_process_before(installation: Installation) -> None:
    installation.command("quickstart")
    key = installation.new_key()
    with installation.serve() as first:
        (file,) = until(lambda: index_files(installation), "the file is written")
        until(lambda: maps_file(first, file), "the process that wrote the file maps it")
        found = first.search_names("mail", key)
        assert found
        with installation.serve() as second:
            assert maps_file(second, file)
            assert second.search_names("mail", key) == found
            assert "file of the index" not in second.stop()
