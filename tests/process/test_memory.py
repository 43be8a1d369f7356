"""Memory of a server with large entries."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from random import Random
from string import ascii_lowercase

import pytest

from directory_server.domain.entries import PUBLISHER

from .conftest import Installation, Server, until

pytestmark = pytest.mark.process

ENTRIES = 16
SIZE = 900_000
"""Characters of each entry; the limit is 1,000,000."""

GROWTH = 80
"""Limit of the growth of the server's memory, in megabytes. Each entry took 11 MB before indexing was bounded."""


def large_entries() -> Iterator[str]:
    """Yield large entries as lines of JSON: prose of random words, Chinese text, tags, tools."""
    random = Random(0)
    for number in range(ENTRIES):
        words = " ".join("".join(random.choices(ascii_lowercase, k=8)) for _ in range(SIZE // 36))
        publisher: dict[str, object] = {}
        match number % 4:
            case 0:
                description = " ".join([words] * 4)
            case 1:
                description = "".join(map(chr, random.choices(range(0x4E00, 0x9FFF), k=SIZE // 3)))
            case 2:
                description, publisher = words * 3, {"tags": words.split()[:19_000]}
            case _:
                description, publisher = words * 3, {"tools": [{"name": word} for word in words.split()[:9_000]]}
        server = {"name": f"x/{number}", "version": "1", "description": description, "_meta": {PUBLISHER: publisher}}
        yield json.dumps(server, ensure_ascii=False) + "\n"


def memory(server: Server) -> int:
    """Return the resident memory of a server in megabytes."""
    found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{server.process.pid}/status").read_text())
    assert found
    return int(found[1]) // 1024


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="needs /proc")
def test_memory_for_large_entries_is_bounded_after_import_and_restart(installation: Installation) -> None:
    file = installation.folder / "large.jsonl"
    file.write_text("".join(large_entries()), encoding="utf-8")
    key = installation.new_key()
    with installation.serve() as server:
        # A search waits for the tables of words, which take 20 MB.
        server.search("x", key)
        before = memory(server)
        assert f"{ENTRIES} added" in installation.command("import", file)
        until(lambda: server.entry_count() == ENTRIES, "the index")
        assert memory(server) - before < GROWTH
        changes = server.request("/api/open/v1/changes?since=0&limit=1000", key, Accept="application/json")
        assert len(changes.body) < 600_000
        assert len(server.search("x", key).body) < 100_000
        assert memory(server) - before < GROWTH
    with installation.serve() as server:
        assert server.entry_count() == ENTRIES
        assert memory(server) - before < GROWTH
