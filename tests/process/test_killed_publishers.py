"""Killed publishers: readers of the change feed receive every acknowledged entry."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPException
from itertools import count
from threading import Thread
from typing import IO

import pytest
from attrs import define, field

from directory_server.domain.entries import mcp_id_of

from .conftest import TIMEOUT, Installation, Server, entry_line, environment

pytestmark = pytest.mark.process

KILLS = int(os.environ.get("PUBLISHER_KILLS", "3"))
"""Number of publishers that are killed."""

DROP = 200
"""Number of changes after which the reader closes its connection."""

LAST = "z/last"

BATCHES = 5
"""Batches that each publisher has published at least when it is killed."""

SIZE = 5
"""Entries of a batch, as in PUBLISHER."""

PUBLISHER = """
    import sys
    from itertools import count
    from pathlib import Path
    from directory_server.runtime.run_sync import inline, run_sync
    from directory_server.sqlite import Database, sqlite_store
    from directory_server.domain.entries import Entry
    from directory_server.search import TextAnalysis

    store = sqlite_store(Database(Path(sys.argv[1]), "directory", synchronous="full"), inline, TextAnalysis())
    for batch in count():
        names = [f"{sys.argv[2]}/{batch}-{number}" for number in range(5)]
        server = {"version": "1.0.0", "description": "It rains."}
        run_sync(store.publish("a", [Entry({"name": name, **server}) for name in names]))
        print(*names, flush=True)
"""


@define
class Reader:
    """Reads the change feed over connections that it closes now and then, and continues after the last event id."""

    server: Server
    key: str
    last: str = "0"
    seqs: list[int] = field(factory=list)
    ids: list[str] = field(factory=list)
    connections: int = 0
    thread: Thread = field(init=False)

    def start(self) -> None:
        self.thread = Thread(target=self._follow, daemon=True)
        self.thread.start()

    def _follow(self) -> None:
        last = mcp_id_of(LAST)
        while last not in self.ids[-1:]:
            self.connections += 1
            headers = {"Accept": "text/event-stream", "Last-Event-ID": self.last}
            with self.server.open("/api/open/v1/changes", self.key, **headers) as response:
                assert response.status == 200, response.read()
                for last_id, mcp_id in events(response):
                    self.last, seq = last_id, int(last_id.partition("-")[0])
                    self.seqs.append(seq)
                    self.ids.append(mcp_id)
                    if mcp_id == last or len(self.seqs) % DROP == 0:
                        break


def events(lines: IO[bytes]) -> Iterator[tuple[str, str]]:
    """Yield the id and the mcp_id of each event until the stream ends or the connection is lost."""
    last_id = ""
    try:
        for line in lines:
            name, _, text = line.rstrip(b"\n").partition(b": ")
            if name == b"id":
                last_id = text.decode()
            elif name == b"event":
                assert text == b"entry.added"
            elif name == b"data":
                yield last_id, text.split(b'"')[3].decode()
    except (OSError, HTTPException):
        return


@contextmanager
def publishing(installation: Installation, name: str) -> Iterator[subprocess.Popen[str]]:
    """Run a process that publishes entries until it is killed, and prints the acknowledged names."""
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(PUBLISHER), str(installation.data), name],
        env=environment(),
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.send_signal(signal.SIGKILL)


def kill_after(process: subprocess.Popen[str], batches: int) -> list[str]:
    """Kill a publisher after `batches` batches or soon after; return the acknowledged names."""
    assert process.stdout is not None
    lines = [line for _, line in zip(range(batches), process.stdout, strict=False)]
    process.send_signal(signal.SIGKILL)
    # The last line may be incomplete; it is ignored then.
    lines += [line for line in process.stdout if line.endswith("\n")]
    return [name for line in lines for name in line.split()]


def test_reader_receives_each_acknowledged_change_once_and_in_order(installation: Installation) -> None:
    key = installation.new_key("--limit", "unlimited")
    acknowledged = []
    with installation.serve() as server:
        reader = Reader(server, key)
        reader.start()
        with publishing(installation, "steady") as steady:
            for number in range(KILLS):
                with publishing(installation, f"killed-{number}") as process:
                    acknowledged.append(kill_after(process, BATCHES + 7 * number % 23))
            acknowledged.append(kill_after(steady, BATCHES))
        installation.command("import", "-", stdin=entry_line(LAST))
        reader.thread.join(TIMEOUT)
        assert not reader.thread.is_alive()
        # The numbers of the changes have no gaps.
        assert reader.seqs == list(range(1, len(reader.seqs) + 1))
        assert reader.connections > len(reader.seqs) // DROP
        assert len(set(reader.ids)) == len(reader.ids)
        places = dict(zip(reader.ids, count(), strict=False))
        for names in acknowledged:
            assert len(names) >= BATCHES * SIZE
            seen = [places[mcp_id_of(name)] for name in names]
            assert seen == sorted(seen)
        server.stop()
