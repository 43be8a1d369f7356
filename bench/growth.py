"""Measure how costs grow with the number of entries, keys, streams and processes.

    python -m bench.growth                                                   all axes, at the default sizes
    python -m bench.growth --axes entries --entries 500 1000 --requests 300  a small run
    python -m bench.growth --axes entries --entries 1000 1000000             a million entries

Each axis changes one number and keeps the others: 1,000 entries, one key, no streams, one process. Entries beyond the
real catalogue are synthetic. The figures of a server, measured from outside:

    cached search    CPU time of a REST search whose page is cached; each request is authenticated and charged
    first of a key   CPU time of such a search, the first one that each key sends
    distinct search  CPU time of a REST search for a new query, end to end
    change           CPU time of one published entry until it is searchable, without that of the idle server
    open a stream    CPU time of opening one stream of the change feed
    RSS, PSS         memory after the searches, of all processes together; PSS counts a shared page once
    first start      CPU time until a process responds that builds the index from the store
    start            seconds until a process responds that reads the file of the index, and its CPU time
    publish          CPU time of storing an entry, analysis included, in the process that publishes

The exponent b of a curve is that of y = a · x^b: 0 is flat, 1 is proportional.
"""

from __future__ import annotations

import argparse
import os
import resource
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cached_property
from itertools import cycle, islice
from math import ceil
from pathlib import Path
from typing import Any

from attrs import evolve, frozen

from directory_server.composition import max_streams
from directory_server.config import load as load_config
from directory_server.domain.entries import Entry
from directory_server.runtime.process import client_sockets

from .catalogue.files import REAL, read_entries, read_sample
from .catalogue.queries import word_pairs
from .catalogue.synthetic import synthetic_entries
from .clients.http_load import Settings, load
from .clients.http_requests import REST_PATH, Credentials, rest_requests
from .clients.stream_clients import StreamClients, StreamRequest, stream_clients
from .measurement.process_stats import CpuMeter, cpu_seconds, memory, proportional_memory, wait_until_idle
from .reports.growth_report import Axis, table
from .servers.data_directory import INDEX_FILES, create_many_keys, publish, wait_for_index_file
from .servers.launch import Running, directory_server, health

BASE_ENTRIES = 1_000
"""Entries where their number does not change."""

SIZES = {
    "entries": (1_000, 26_000, 200_000),
    "keys": (1, 10_000, 1_000_000),
    "streams": (100, 1_000, 10_000, 20_000),
    "processes": (1, 2),
}

QUOTA = 10_000_000
"""Requests per hour of a key: requests are charged and never rejected."""

WARM = 100
"""Requests before each measurement."""

CONNECTIONS = 64
"""Open connections per process."""

CHANGE = 120.0
"""Seconds within which a change must be searchable, and the file of the index written."""

SHARE = 0.9
"""The share of the streams that a process may hold: the kernel spreads connections over processes by chance."""

WINDOW = 200
"""Streams that are opened in parallel."""

SETTINGS = {"STREAMS__PER_KEY": "1000000", "STREAMS__TOTAL": "1000000"}

Measurement = tuple[int, Mapping[str, float]]
"""A size of an axis, and the figures at this size."""


@frozen(slots=False)
class Growth:
    """The measurements of all axes, on synthetic entries made from `catalogue`."""

    catalogue: Sequence[Entry]
    requests: int
    changes: int

    @cached_property
    def _pairs(self) -> Mapping[bool, Sequence[str]]:
        """The queries: distinct ones at True, repeated ones at False."""
        return {
            distinct: word_pairs(self.catalogue, self.requests + WARM, distinct=distinct) for distinct in (True, False)
        }

    def axis(self, name: str) -> Callable[[Path, Sequence[int]], Iterator[Measurement]]:
        """Return the method that measures an axis in an empty data directory."""
        return {
            "entries": self._entries,
            "keys": self._keys,
            "streams": self._streams,
            "processes": self._processes,
        }[name]

    def _entries(self, folder: Path, sizes: Sequence[int]) -> Iterator[Measurement]:
        """Yield the figures for each number of entries; the data directory grows."""
        secrets, stored = create_many_keys(folder, 1, QUOTA), 0
        for size in sizes:
            seconds = publish(folder, islice(synthetic_entries(self.catalogue, size), stored, None))
            figures = self.measure(folder, secrets)
            yield size, {**figures, "publish": seconds / (size - stored) * 1e6}
            stored = size

    def _keys(self, folder: Path, sizes: Sequence[int]) -> Iterator[Measurement]:
        """Yield the figures for each number of keys; consecutive requests have different keys."""
        self._publish_base(folder)
        secrets: list[str] = []
        for size in sizes:
            secrets += create_many_keys(folder, size - len(secrets), QUOTA)
            yield size, self.measure(folder, secrets)

    def _streams(self, folder: Path, sizes: Sequence[int]) -> Iterator[Measurement]:
        """Yield the figures for each number of open streams of the change feed."""
        self._publish_base(folder)
        secrets = create_many_keys(folder, 1, QUOTA)
        files = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        settings = [f"{name.lower().replace('__', '.')}={value}" for name, value in SETTINGS.items()]
        most = max_streams(load_config(file=None, environ={}, settings=settings), client_sockets(files))
        for size in sizes:
            processes = ceil(size / (most * SHARE)) if size > most else 1
            if processes > 1:
                reason = f"{files:,} open files (ulimit -Hn) allow {most:,} in one process"
                print(f"{size:,} streams: {processes} processes, as {reason}", flush=True)
            yield size, self.measure(folder, secrets, streams=size, processes=processes)

    def _processes(self, folder: Path, sizes: Sequence[int]) -> Iterator[Measurement]:
        """Yield the figures for each number of processes on one port."""
        self._publish_base(folder)
        secrets = create_many_keys(folder, 1, QUOTA)
        for size in sizes:
            yield size, self.measure(folder, secrets, processes=size)

    def measure(
        self, folder: Path, secrets: Sequence[str], *, streams: int = 0, processes: int = 1
    ) -> Mapping[str, float]:
        """Start a server on `folder` without and with the file of the index; return the figures of the second one."""
        for file in folder.glob(INDEX_FILES):
            file.unlink()
        with directory_server(folder, settings=SETTINGS) as server:
            figures = {"first_start": cpu_seconds(server.processes)}
            wait_for_index_file(folder, CHANGE)
        began = time.monotonic()
        with directory_server(folder, processes=processes, settings=SETTINGS) as server:
            figures |= {
                "start": (time.monotonic() - began) / processes,
                "start_cpu": cpu_seconds(server.processes) / processes,
            }
            wait_until_idle(server.processes)
            with _open_streams(server, secrets[0], streams) as (clients, seconds):
                if streams:
                    figures["open"] = seconds / streams * 1e6
                if len(secrets) > 1:
                    figures["first_use"] = self._request(server, secrets, distinct=False)
                figures["request"] = self._request(server, secrets, distinct=False)
                figures["search"] = self._request(server, secrets, distinct=True)
                figures["rss"] = sum(map(memory, server.processes)) / 1e6
                figures["pss"] = sum(map(proportional_memory, server.processes)) / 1e6
                figures["change"] = self._change(folder, server, clients)
        return figures

    def _publish_base(self, folder: Path) -> None:
        publish(folder, synthetic_entries(self.catalogue, BASE_ENTRIES))

    def _request(self, server: Running, secrets: Sequence[str], *, distinct: bool) -> float:
        """Return the CPU microseconds of a search."""
        queries = self._pairs[distinct]
        # Spread over all keys, so that the cache of keys is used as much as their number allows.
        used = secrets[:: max(len(secrets) // len(queries), 1)]
        requests = rest_requests(REST_PATH, queries, cycle([Credentials(each) for each in used]))
        connections = CONNECTIONS * len(server.processes)
        outcome = load(requests, Settings(server.port, server.processes, WARM, connections, 60.0))
        return outcome.cpu / outcome.requests * 1e6

    def _change(self, folder: Path, server: Running, clients: Sequence[StreamClients]) -> float:
        """Return the CPU milliseconds of a change."""
        began, cpu = time.monotonic(), CpuMeter(server.processes)
        time.sleep(1)
        idle_share = cpu.seconds() / (time.monotonic() - began)
        stored = health(server.port)["entries"]
        began, cpu = time.monotonic(), CpuMeter(server.processes)
        number = time.time_ns()
        for change in range(1, self.changes + 1):
            entry = self.catalogue[change % len(self.catalogue)]
            changed = evolve(entry, server={**entry.server, "name": f"bench.example/{number}-{change}"})
            publish(folder, iter([changed]))
            _wait_for_entries(server, stored + change)
            _run_all(clients, "idle", 0.05)
        seconds = time.monotonic() - began
        return (cpu.seconds() - idle_share * seconds) / self.changes * 1e3


@contextmanager
def _open_streams(server: Running, secret: str, count: int) -> Iterator[tuple[Sequence[StreamClients], float]]:
    """Open streams of the change feed; yield the clients, and the CPU seconds of the server.

    There are as many processes of clients as of the server: a client opens as many files.
    """
    head = "GET /api/open/v1/changes HTTP/1.1", "Host: localhost:1", f"Authorization: Bearer {secret}"
    request = "\r\n".join([*head, "Accept: text/event-stream", "", ""]).encode()
    with ExitStack() as stack:
        opened = StreamRequest(server.port, request, b"retry: ")
        clients = [stack.enter_context(stream_clients(opened)) for _ in server.processes]
        cpu = CpuMeter(server.processes)
        results = _run_all(clients, "open", count // len(clients), WINDOW // len(clients))
        if errors := sum(result["errors"] for result in results):
            raise SystemExit(f"{errors} of {count} streams did not open")
        yield clients, cpu.seconds()


def _run_all(clients: Sequence[StreamClients], name: str, *arguments: float) -> Sequence[Any]:
    """Run a method of all clients at the same time; return the results."""
    for client in clients:
        client.start(name, *arguments)
    return [client.result() for client in clients]


def _wait_for_entries(server: Running, count: int) -> None:
    """Wait until `count` entries are searchable."""
    end = time.monotonic() + CHANGE
    # The first check is late, because each one costs the server CPU time.
    time.sleep(0.2)
    while health(server.port)["entries"] < count:
        if time.monotonic() > end:
            raise SystemExit(f"a change is not searchable after {CHANGE:.0f} seconds")
        time.sleep(0.05)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--axes", nargs="+", choices=SIZES, default=list(SIZES), help="axes (default: all)")
    for name, default in SIZES.items():
        parser.add_argument(
            f"--{name}", nargs="+", type=int, default=default, metavar="N", help=f"numbers of {name}, ascending"
        )
    parser.add_argument("--file", type=Path, default=REAL, help="gzipped JSON Lines of entries")
    parser.add_argument("--requests", type=int, default=3_000, help="requests of a measurement")
    parser.add_argument("--changes", type=int, default=20, help="changes of a measurement")
    options = parser.parse_args()
    if not options.file.exists():
        print(f"The file {options.file} does not exist; the entries are those of the sample catalogue, repeated.")
    entries = read_entries(options.file) if options.file.exists() else read_sample()
    growth = Growth(entries, options.requests, options.changes)
    for name in options.axes:
        found: dict[int, Mapping[str, float]] = {}
        with tempfile.TemporaryDirectory() as folder:
            for size, figures in growth.axis(name)(Path(folder), getattr(options, name)):
                found[size] = figures
                print(f"measured: {name} {size:,}", flush=True)
        print("", *table(Axis(name, found)), "", sep="\n", flush=True)


if __name__ == "__main__":
    os.environ.pop("DIRECTORY_SERVER_CONFIG", None)
    main()
