"""Measure the longest turns of the reactor of a server with the real entries, beside searches and changes.

    python -m bench.turns [--entries FILE] [--requests 2000] [--changes 20]

A turn is the time during which the server's reactor handles no new event. Requests that arrive together are handled in
one turn, so its length grows with the number of connections that search at the same time. "CPU" is the processor time
of the reactor's thread in a turn: it has no share of other processes, but also not the time in which another thread has
the interpreter. "reference" are the turns of an empty reactor meanwhile: what the machine adds.
"""

from __future__ import annotations

import argparse
import http.client
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import repeat
from pathlib import Path
from threading import Thread
from urllib.parse import quote
from urllib.request import urlopen

from attrs import evolve, frozen

from directory_server.domain.entries import Entry

from .catalogue.files import REAL, read_entries
from .catalogue.queries import hostile, word_pairs
from .clients.http_load import Settings, load
from .clients.http_requests import REST_PATH, Credentials, rest_requests
from .servers.data_directory import create_keys, publish
from .servers.launch import free_port, health
from .servers.reactor_turns import measured_process

CONNECTIONS = (1, 8, 64)
"""Connections that search at the same time."""

PAUSE = 0.5
"""Seconds between two changes."""


@frozen
class Server:
    """A server on `port`, its process, the ports that return its turns and those of an empty reactor, and a key."""

    port: int
    process: int
    turns: int
    reference: int
    secret: str

    def measure(self, name: str, work: Callable[[], object]) -> None:
        """Print the longest turns during `work`."""
        for port in (self.turns, self.reference):
            read(port)
        work()
        print(f"{name:<36}{read(self.turns)}", flush=True)
        print(f"{'  reference':<36}{read(self.reference)}", flush=True)

    def search(self, queries: Sequence[str], connections: int) -> None:
        """Search for each query once."""
        requests = rest_requests(REST_PATH, queries, repeat(Credentials(self.secret)))
        load(requests, Settings(self.port, [self.process], 1, connections, 60.0))

    def search_hostile(self, queries: Sequence[str]) -> None:
        """Search for each query, whatever the response is."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        for each in queries:
            target = f"{REST_PATH}?keywords={quote(each, errors='replace')}"
            connection.request("GET", target, headers={"Authorization": f"Bearer {self.secret}"})
            connection.getresponse().read()

    def change(self, folder: Path, entries: Sequence[Entry]) -> None:
        """Publish new entries one by one."""
        number = time.time_ns()
        for place, entry in enumerate(entries):
            server = {**entry.server, "name": f"bench.example/{number}-{place}"}
            publish(folder, iter([evolve(entry, server=server)]))
            time.sleep(PAUSE)


def read(port: int) -> str:
    """Return the turns since the last call."""
    with urlopen(f"http://127.0.0.1:{port}/") as response:
        return bytes(response.read()).decode()


def measure(server: Server, folder: Path, entries: Sequence[Entry], requests: int, changes: int) -> None:
    """Print the turns of all kinds of work."""
    pairs = iter(word_pairs(entries, requests * (len(CONNECTIONS) + 1), distinct=True))
    parts = [[next(pairs) for _ in range(requests)] for _ in range(len(CONNECTIONS) + 1)]
    server.search(parts[0][:100], 1)
    for connections, part in zip(CONNECTIONS, parts, strict=False):
        server.measure(f"searches, {connections} connections", partial(server.search, part, connections))
    server.measure("hostile searches", lambda: server.search_hostile([text for _, text in hostile(entries)]))
    server.measure(f"{changes} changes", lambda: server.change(folder, entries[:changes]))

    def both() -> None:
        searches = Thread(target=server.search, args=(parts[-1], 1))
        searches.start()
        server.change(folder, entries[changes : 2 * changes])
        searches.join()

    server.measure(f"{changes} changes, and searches", both)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entries", type=Path, default=REAL, help="gzipped JSON Lines of entries")
    parser.add_argument("--requests", type=int, default=2_000, help="searches of a measurement")
    parser.add_argument("--changes", type=int, default=20, help="changes of a measurement")
    options = parser.parse_args()
    entries = read_entries(options.entries)
    with tempfile.TemporaryDirectory() as name:
        folder, port = Path(name), free_port()
        publish(folder, iter(entries))
        (secret,) = create_keys(folder, 1, None)
        with (
            measured_process("-d", str(folder), "-l", f"tcp:{port}:interface=127.0.0.1") as (process, turns),
            measured_process() as (_, reference),
        ):
            while health(port)["entries"] < len(entries):
                time.sleep(0.2)
            measure(Server(port, process, turns, reference, secret), folder, entries, options.requests, options.changes)


if __name__ == "__main__":
    os.environ.pop("DIRECTORY_SERVER_CONFIG", None)
    main()
