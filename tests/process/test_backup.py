"""A backup that is made beside a server with writes, restored and served."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import Installation, entry_line, until

pytestmark = pytest.mark.process


def test_a_backup_of_a_running_server_is_served(installation: Installation, tmp_path: Path) -> None:
    with installation.serve() as server:
        installation.command("import", "-", stdin=entry_line("io.example/mail", "Reads mail."))
        key = installation.new_key()
        names = until(lambda: server.search_names("mail", key), "the entry")
        importing = installation.start_import()
        try:
            installation.command("backup", tmp_path / "copy")
        finally:
            importing.kill()
            importing.wait()
    other = tmp_path / "other"
    other.mkdir()
    restored = Installation(other)
    restored.command("restore", tmp_path / "copy")
    with restored.serve() as server:
        assert server.search_names("mail", key) == names
