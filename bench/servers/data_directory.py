"""Fill data directories with keys and entries."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from directory_server import sqlite, tables
from directory_server.domain.entries import Entry
from directory_server.domain.keys import digest, new_id, new_key_secret
from directory_server.domain.ports.search import Analysis
from directory_server.runtime.run_sync import inline, run_sync
from directory_server.search import TextAnalysis
from directory_server.tables import StoredEntries

BATCH = 1_000
"""Entries that are published in one call."""

INDEX_FILES = "index-*.bin"
"""The files of the index in a data directory."""


@contextmanager
def open_store(folder: Path, analysis: Analysis | None = None) -> Iterator[StoredEntries]:
    """Open the entries of a data directory; `analysis` is that of the server, unless another is given."""
    data = sqlite.DataDirectory(folder)
    try:
        yield sqlite.sqlite_store(data.directory, inline, analysis or TextAnalysis())
    finally:
        data.close()


def publish(
    folder: Path, entries: Iterator[Entry], *, source: str = "bench", analysis: Analysis | None = None
) -> float:
    """Publish `entries` of `source` in a data directory; return the CPU seconds of this process."""
    began = time.process_time()
    with open_store(folder, analysis) as store:
        while batch := list(islice(entries, BATCH)):
            run_sync(store.publish(source, batch))
    return time.process_time() - began


def count_entries(folder: Path) -> int:
    """Return the number of visible entries in a data directory."""
    with open_store(folder) as store:
        return run_sync(store.count())


def create_keys(folder: Path, count: int, limit: int | None) -> list[str]:
    """Create keys with a quota of `limit` requests per hour in a data directory; return their secrets."""
    data = sqlite.DataDirectory(folder)
    ring = tables.StoredKeyRing(sqlite.SqliteTables(data.directory), time.time)
    secrets = [run_sync(ring.create("bench", limit=limit, expires_at=None))[1] for _ in range(count)]
    data.close()
    return secrets


def create_many_keys(folder: Path, count: int, limit: int | None) -> list[str]:
    """Create keys like `create_keys`, in one transaction: the rows of one key are copied with other secrets."""
    first = create_keys(folder, 1, limit)[0]
    # Ids of 8 characters are not enough for a million random keys.
    others = [(new_id() + new_id(), new_key_secret()) for _ in range(count - 1)]
    data = sqlite.DataDirectory(folder)
    with data.directory.transaction() as connection:
        secret_row = _row(connection, "secret", "digest", digest(first))
        key_row = _row(connection, "api_key", "id", secret_row["key_id"])
        connection.executemany(_insert("api_key", key_row), ({**key_row, "id": key} for key, _ in others))
        secret_rows = (
            {**secret_row, "digest": digest(secret), "key_id": key, "last_four": secret[-4:]} for key, secret in others
        )
        connection.executemany(_insert("secret", secret_row), secret_rows)
    data.close()
    return [first, *(secret for _, secret in others)]


def _row(connection: sqlite3.Connection, table: str, column: str, value: object) -> dict[str, Any]:
    cursor = connection.execute(f"SELECT * FROM {table} WHERE {column} = ?", (value,))
    return dict(zip((name for name, *_ in cursor.description), cursor.fetchone(), strict=True))


def _insert(table: str, row: dict[str, Any]) -> str:
    return f"INSERT INTO {table} ({', '.join(row)}) VALUES ({', '.join(f':{name}' for name in row)})"


def wait_for_index_file(folder: Path, seconds: float) -> None:
    """Wait until a server has written the file of the index of a data directory.

    Raises SystemExit if it is absent after `seconds`.
    """
    end = time.monotonic() + seconds
    while not list(folder.glob(INDEX_FILES)):
        if time.monotonic() > end:
            raise SystemExit(f"the file of the index is not written after {seconds:.0f} seconds")
        time.sleep(0.05)
