"""A directory that syncs from the registry API of another one."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from directory_server import sample
from directory_server.runtime.run_sync import inline, run_sync
from directory_server.search import TextAnalysis
from directory_server.sqlite import Database, sqlite_store

from .conftest import TIMEOUT, Installation, entry_line
from .test_mirror import sync

pytestmark = pytest.mark.process


def server_documents(installation: Installation) -> dict[str, str]:
    """Return the server.json of each entry as text, by name."""
    with closing(Database(installation.data, "directory")) as database:
        store = sqlite_store(database, inline, TextAnalysis())
        listed = run_sync(store.listing(("", ""), 100_000))
        return {each.name: json.dumps(json.loads(each.body)["server"]) for each in listed}


@pytest.fixture
def two_installations(tmp_path: Path) -> tuple[Installation, Installation]:
    folders = tmp_path / "one", tmp_path / "two"
    for folder in folders:
        folder.mkdir()
    return Installation(folders[0]), Installation(folders[1])


def import_and_sync(two_installations: tuple[Installation, Installation], *files: object, expected: int) -> None:
    first, second = two_installations
    first.command("import", *files)
    with first.serve("--set", "registry.access=public", "--set", "registry.per_minute=100000") as server:
        config = second.folder / "directory.toml"
        config.write_text(f'[[upstream]]\nname = "first"\nurl = "http://127.0.0.1:{server.port}"\n')
        output, _ = sync(second, config).communicate(timeout=4 * TIMEOUT)
        assert f" {expected} added" in output.replace(",", "")
        assert server_documents(second) == server_documents(first)
        first.command("import", "-", stdin=entry_line("new.example/one"))
        assert " 1 added" in sync(second, config).communicate(timeout=4 * TIMEOUT)[0]


def test_sync_of_the_sample_catalogue_yields_the_same_documents(two_installations: Any) -> None:
    import_and_sync(two_installations, sample.path(), expected=len(json.loads(sample.path().read_bytes())["servers"]))
