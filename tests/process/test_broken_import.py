"""A killed import leaves its committed batches; the next import completes it."""

from __future__ import annotations

from contextlib import suppress
from threading import Thread
from typing import IO

import pytest

from directory_server import sqlite
from directory_server.importer._importer import BATCH
from directory_server.runtime.run_sync import inline, run_sync
from directory_server.search import TextAnalysis

from .conftest import TIMEOUT, Installation, entry_line, until

pytestmark = pytest.mark.process

TOTAL = 4 * BATCH


def write(pipe: IO[bytes], text: bytes) -> None:
    """Write until the reader closes the pipe."""
    with suppress(BrokenPipeError):
        pipe.write(text)
        pipe.flush()


def test_killed_import_leaves_its_committed_batches(installation: Installation) -> None:
    lines = [entry_line(f"a.example/server-{number}", f"Part {number} of many.") for number in range(TOTAL)]
    data = sqlite.DataDirectory(installation.data)
    store = sqlite.sqlite_store(data.directory, inline, TextAnalysis())
    importing = installation.start_import()
    pipe = importing.stdin
    assert pipe
    # The pipe stays open, so that the import cannot finish before it is killed.
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
    committed = run_sync(store.count())
    data.close()
    assert 0 < committed < TOTAL

    key = installation.new_key()
    with installation.serve() as server:
        assert server.entry_count() == committed
        assert server.search_names("1", key)
        output = installation.command("import", "-", stdin="".join(lines))
        assert output.startswith(f"{TOTAL - committed:,} added, 0 changed, {committed:,} unchanged, 0 rejected.")
        until(lambda: server.entry_count() == TOTAL, "the rest")
        assert f"a.example/server-{TOTAL - 1}" in server.search_names(str(TOTAL - 1), key)
        server.stop()
