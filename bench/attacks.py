"""Measure how slow and endless requests affect other clients and the server's memory.

    python -m bench.attacks [--connections 1000] [--megabytes 200]

starts a server with the sample catalogue. Slow clients open connections and send one byte on each every half second,
while another client searches. Then as many clients send pipelines and incomplete bodies at once and read nothing. Then
endless bodies are sent, and the server's memory is compared before and after. The command fails if a connection
outlives its deadline, a search fails or memory grows.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from threading import Event, Thread

from .clients.slow_clients import BODIES, CROWDS, SLOW, crowd, endless
from .measurement.process_stats import memory, open_files, peak_memory
from .servers.data_directory import create_keys
from .servers.launch import Running, directory_server, run_command

SEARCH = "/api/open/v1/search?keywords=github"
LATE = 5.0
"""Seconds after its deadline within which a connection must be closed."""

CROWD = 10.0
"""Seconds of each attack by a crowd."""

CROWD_GROWTH = 150.0
"""Megabytes by which the server's memory may grow during one: twice the limit `http.queued`."""

GROWTH = 10.0
"""Megabytes by which the server's memory may grow during an endless body."""


class Searches:
    """A client that searches every 20 ms on one connection and records the response times."""

    def __init__(self, port: int, key: str) -> None:
        self._port, self._key = port, key
        self._stop = Event()
        self.times: list[float] = []
        self.failed = 0

    @contextmanager
    def running(self) -> Iterator[None]:
        thread = Thread(target=self._run)
        thread.start()
        yield
        self._stop.set()
        thread.join()

    def _run(self) -> None:
        connection = HTTPConnection("127.0.0.1", self._port, timeout=10)
        while not self._stop.wait(0.02):
            began = time.perf_counter()
            try:
                connection.request("GET", SEARCH, headers={"Authorization": f"Bearer {self._key}"})
                response = connection.getresponse()
                response.read()
                self.failed += response.status != 200
            except OSError:
                self.failed += 1
                connection.close()
            self.times.append(time.perf_counter() - began)

    def quantile(self, q: float) -> float:
        """Return a quantile of the response times in milliseconds; `q` is from 0 to 1."""
        return sorted(self.times)[int((len(self.times) - 1) * q)] * 1000


@contextmanager
def sample_server(per_address: int) -> Iterator[tuple[Running, str]]:
    """Start a server with the sample catalogue; yield it and a key without a quota."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run_command(folder, "quickstart")
        (key,) = create_keys(folder, 1, None)
        with directory_server(folder, settings={"HTTP__PER_ADDRESS": str(per_address)}) as running:
            yield running, key


def slow(running: Running, key: str, count: int) -> Iterator[str]:
    """Run the slow attacks, print a line for each, and yield error messages."""
    print(f"{'slow':<10} {'open':>6} {'closed':>14} {'responses':>9} {'searches':>9} {'p50 ms':>7} {'p99 ms':>7} RSS")
    for name, attack in SLOW.items():
        before = memory(running.process)
        searches = Searches(running.port, key)
        with searches.running():
            result = attack.run(running.port, count)
        after = memory(running.process)
        growth = f"{before / 1e6:.1f} to {after / 1e6:.1f} MB"
        closed = f"{min(result.closed):.1f} to {max(result.closed):.1f} s" if result.closed else "never"
        print(
            f"{name:<10} {count:>6,} {closed:>14} {result.responses:>9,} {len(searches.times):>9,} "
            f"{searches.quantile(0.5):>7.1f} {searches.quantile(0.99):>7.1f} {growth}",
            flush=True,
        )
        if len(result.closed) < count or max(result.closed) > attack.deadline + LATE:
            yield f"{name}: {count - len(result.closed)} connections stayed open, or some were closed too late"
        if searches.failed:
            yield f"{name}: {searches.failed} searches failed during the attack"


def crowds(running: Running, key: str, count: int) -> Iterator[str]:
    """Run the attacks of crowds, print a line for each, and yield error messages."""
    print(f"\n{'crowd':<10} {'open':>6} {'searches':>9} {'p50 ms':>7} {'p99 ms':>7} RSS before, peak, after")
    for name, data in CROWDS.items():
        before, peak_before = memory(running.process), peak_memory(running.process)
        searches = Searches(running.port, key)
        with searches.running():
            crowd(running.port, count, data, CROWD)
        peak, after = peak_memory(running.process), memory(running.process)
        print(
            f"{name:<10} {count:>6,} {len(searches.times):>9,} {searches.quantile(0.5):>7.1f} "
            f"{searches.quantile(0.99):>7.1f} {before / 1e6:.0f}, {peak / 1e6:.0f}, {after / 1e6:.0f} MB",
            flush=True,
        )
        if peak - max(before, peak_before) > CROWD_GROWTH * 1e6:
            yield f"{name}: memory grew"
        if searches.failed:
            yield f"{name}: {searches.failed} searches failed during the attack"


def long(running: Running, megabytes: int) -> Iterator[str]:
    """Send endless bodies, print a line for each, and yield error messages."""
    print(
        f"\n{'body':<14} {'of':>8} {'sent before the response':>24} {'status':>7} {'peak RSS before, after':>28} files"
    )
    for name, (head, chunk) in BODIES.items():
        before = peak_memory(running.process)
        result = endless(running.port, head(megabytes * 2**20), chunk, megabytes * 2**20)
        after = peak_memory(running.process)
        files = sum(file.endswith("(deleted)") for file in open_files(running.process))
        print(
            f"{name:<14} {megabytes:>5} MB {result.sent / 2**20:>21.1f} MB {result.status:>7} "
            f"{before / 1e6:>12.1f} {after / 1e6:>12.1f} MB {files:>5}"
        )
        if result.status != 413 or files or after - before > GROWTH * 1e6:
            yield f"{name}: the body was not rejected, or memory grew"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--connections", type=int, default=1_000, help="connections of each slow attack")
    parser.add_argument("--megabytes", type=int, default=200, help="length of each long body")
    options = parser.parse_args()
    # All connections have the same address.
    with sample_server(2 * options.connections) as (running, key):
        errors = [
            *slow(running, key, options.connections),
            *crowds(running, key, options.connections),
            *long(running, options.megabytes),
        ]
    sys.exit("\n".join(["", *errors]) if errors else None)


if __name__ == "__main__":
    main()
