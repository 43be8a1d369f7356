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
"""Publishers that are killed; more of them for more certainty."""

DROP = 200
"""Changes after which the reader breaks its connection off."""

LAST = "z/last"

PUBLISHER = """
    import sys
    from itertools import count
    from pathlib import Path
    from directory_server.run_sync import inline, run_sync
    from directory_server.sqlite import Database, SqliteStore
    from directory_server.domain.entries import Entry
    from directory_server.search import TextAnalysis

    store = SqliteStore(Database(Path(sys.argv[1]), "directory", synchronous="full"), inline, TextAnalysis())
    for batch in count():
        names = [f"{sys.argv[2]}/{batch}-{number}" for number in range(5)]
        server = {"version": "1.0.0", "description": "It rains."}
        run_sync(store.publish("a", [Entry({"name": name, **server}) for name in names]))
        print(*names, flush=True)
"""


@define
class Reader:
    """Follows the changes with a connection that breaks now and then, and goes on with the last id it got."""

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
    """Yield the id of each event and the mcp_id that it tells of, until the stream ends or breaks."""
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
    """Run a process that publishes until it is killed, and prints what has been acknowledged to it."""
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


def killed_after(process: subprocess.Popen[str], batches: int) -> list[str]:
    """Return the names that were acknowledged to a publisher that is killed after some batches, or soon after."""
    assert process.stdout is not None
    lines = [line for _, line in zip(range(batches), process.stdout, strict=False)]
    process.send_signal(signal.SIGKILL)
    # The last line may have been cut, and then tells nothing.
    lines += [line for line in process.stdout if line.endswith("\n")]
    return [name for line in lines for name in line.split()]


def test_a_reader_has_seen_each_acknowledged_change_once_and_in_order(installation: Installation) -> None:
    key = installation.new_key("--limit", "unlimited")
    acknowledged = []
    with installation.serve() as server:
        reader = Reader(server, key)
        reader.start()
        with publishing(installation, "steady") as steady:
            for number in range(KILLS):
                with publishing(installation, f"round-{number}") as process:
                    acknowledged.append(killed_after(process, 5 + 7 * number % 23))
            acknowledged.append(killed_after(steady, 0))
        installation.command("import", "-", stdin=entry_line(LAST))
        reader.thread.join(TIMEOUT)
        assert not reader.thread.is_alive()
        # The log has no holes, so neither has what was told of it.
        assert reader.seqs == list(range(1, len(reader.seqs) + 1))
        assert reader.connections > len(reader.seqs) // DROP
        assert len(set(reader.ids)) == len(reader.ids)
        places = dict(zip(reader.ids, count(), strict=False))
        for names in acknowledged:
            assert len(names) >= 25
            seen = [places[mcp_id_of(name)] for name in names]
            assert seen == sorted(seen)
        assert "Traceback" not in server.stop()
