"""An import that is killed leaves what it has committed, and the next one completes it."""

from __future__ import annotations

from contextlib import suppress
from threading import Thread
from typing import IO

import pytest

from directory_server import sqlite
from directory_server.importer._importer import BATCH
from directory_server.run_sync import inline, run_sync
from directory_server.search import TextAnalysis

from .conftest import TIMEOUT, Installation, entry_line, until

pytestmark = pytest.mark.process

WHOLE = 8 * BATCH


def write(pipe: IO[bytes], text: bytes) -> None:
    """Write until the other end is gone."""
    with suppress(BrokenPipeError):
        pipe.write(text)
        pipe.flush()


def test_a_killed_import_leaves_what_it_has_committed(installation: Installation) -> None:
    lines = [entry_line(f"a.example/server-{number}", f"Part {number} of many.") for number in range(WHOLE)]
    data = sqlite.DataDirectory(installation.data)
    store = sqlite.SqliteStore(data.directory, inline, TextAnalysis())
    importing = installation.start_import()
    pipe = importing.stdin
    assert pipe
    # The pipe stays open behind the last line, so that the import cannot come to its end before it is killed.
    writer = Thread(target=write, args=(pipe, "".join(lines[:-BATCH]).encode()))
    writer.start()
    try:
        until(lambda: run_sync(store.count()), "the first batch")
    finally:
        importing.kill()
        importing.wait(TIMEOUT)
        writer.join(TIMEOUT)
        with suppress(BrokenPipeError):
            pipe.close()
    kept = run_sync(store.count())
    data.close()
    assert 0 < kept < WHOLE

    key = installation.new_key()
    with installation.serve() as server:
        assert server.entry_count() == kept
        assert server.search_names("1", key)
        said = installation.command("import", "-", stdin="".join(lines))
        assert said.startswith(f"{WHOLE - kept:,} added, 0 changed, {kept:,} unchanged, 0 rejected.")
        until(lambda: server.entry_count() == WHOLE, "the rest")
        assert f"a.example/server-{WHOLE - 1}" in server.search_names(str(WHOLE - 1), key)
        assert "Traceback" not in server.stop()
