"""What slow and endless requests do to those who come beside them, and to the server's memory.

    python -m bench.attacks [--connections 1000] [--megabytes 200]

runs a server with the sample catalogue. Clients that never finish what they send open so many connections, and send a
byte on each every half second; meanwhile somebody searches. Then bodies without an end are sent, and what the server
holds is looked up before and after. Where slowhttptest is installed, it attacks too. Fails where a connection outlives
its deadline, a search is not answered, or memory grows.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPConnection
from pathlib import Path
from threading import Event, Thread

from directory_server import sqlite
from directory_server.run_sync import run_sync

from . import _contenders
from ._slow import BODIES, SLOW, endless, held

SEARCH = "/api/open/v1/search?keywords=github"
LATE = 5.0
"""Seconds past its deadline after which a connection that is still open is too late."""

GROWTH = 10_000
"""Kilobytes by which the server may grow over a body without an end."""


class Searches:
    """Somebody who searches all the while, every 20 ms on one connection, and whose waits are noted."""

    def __init__(self, port: int, key: str) -> None:
        self._port, self._key = port, key
        self._over = Event()
        self.waits: list[float] = []
        self.failed = 0

    @contextmanager
    def going_on(self) -> Iterator[None]:
        thread = Thread(target=self._run)
        thread.start()
        yield
        self._over.set()
        thread.join()

    def _run(self) -> None:
        connection = HTTPConnection("127.0.0.1", self._port, timeout=10)
        while not self._over.wait(0.02):
            began = time.perf_counter()
            try:
                connection.request("GET", SEARCH, headers={"Authorization": f"Bearer {self._key}"})
                response = connection.getresponse()
                response.read()
                self.failed += response.status != 200
            except OSError:
                self.failed += 1
                connection.close()
            self.waits.append(time.perf_counter() - began)

    def share(self, of: float) -> float:
        """Return within how many milliseconds this share of the searches was answered."""
        return sorted(self.waits)[int((len(self.waits) - 1) * of)] * 1000


@contextmanager
def server() -> Iterator[tuple[_contenders.Running, str]]:
    """Run a server with the sample catalogue; yield it and a key without a limit."""
    command = str(Path(sys.executable).with_name("directory-server"))
    with tempfile.TemporaryDirectory() as name:
        subprocess.run([command, "--data-dir", name, "quickstart"], check=True, capture_output=True)
        data = sqlite.DataDirectory(Path(name))
        _, key = run_sync(sqlite.SqliteKeyRing(data.directory, time.time).create("bench", limit=None, expires_at=None))
        data.close()
        with _contenders.ours(Path(name), None, stub=False) as running:
            yield running, key


def slow(running: _contenders.Running, key: str, count: int) -> Iterator[str]:
    """Attack slowly, print a line for each attack, and yield what went wrong."""
    print(
        f"{'slow':<10} {'open':>6} {'gone after':>14} {'answered':>9} {'searches':>9} {'p50 ms':>7} {'p99 ms':>7} RSS"
    )
    for name, attack in SLOW.items():
        before = held(running.process)
        searches = Searches(running.port, key)
        with searches.going_on():
            came = attack.run(running.port, count)
        after = held(running.process)
        gone = f"{min(came.gone):.1f} to {max(came.gone):.1f} s" if came.gone else "never"
        print(
            f"{name:<10} {count:>6,} {gone:>14} {came.answered:>9,} {len(searches.waits):>9,} "
            f"{searches.share(0.5):>7.1f} {searches.share(0.99):>7.1f} {before:,} to {after:,} KB",
            flush=True,
        )
        if len(came.gone) < count or max(came.gone) > attack.deadline + LATE:
            yield f"{name}: {count - len(came.gone)} connections were left open, or for too long"
        if searches.failed:
            yield f"{name}: {searches.failed} searches failed meanwhile"


def long(running: _contenders.Running, megabytes: int) -> Iterator[str]:
    """Send bodies without an end, print a line for each, and yield what went wrong."""
    print(
        f"\n{'body':<14} {'of':>8} {'sent before the refusal':>24} {'answer':>7} {'most RSS before, after':>28} files"
    )
    for name, (head, piece) in BODIES.items():
        before = held(running.process, "VmHWM")
        came = endless(running.port, head(megabytes * 2**20), piece, megabytes * 2**20)
        after = held(running.process, "VmHWM")
        files = sum(name.endswith("(deleted)") for name in opened(running.process))
        print(
            f"{name:<14} {megabytes:>5} MB {came.sent / 2**20:>21.1f} MB {came.status:>7} "
            f"{before:>12,} {after:>12,} KB {files:>5}"
        )
        if came.status != 413 or files or after - before > GROWTH:
            yield f"{name}: not refused, or it cost memory"


def opened(process: int) -> Iterator[str]:
    """Yield the names of the files that a process has open."""
    for each in Path(f"/proc/{process}/fd").iterdir():
        # One that is closed meanwhile is none.
        with suppress(FileNotFoundError):
            yield os.readlink(each)


TOOL = {"slow headers": ["-H"], "slow bodies": ["-B", "-s", "8192"], "slow readers": ["-X", "-k", "3"]}


def slowhttptest(running: _contenders.Running, count: int) -> Iterator[str]:
    """Have slowhttptest attack, print what it found, and yield what went wrong."""
    tool = shutil.which("slowhttptest")
    if tool is None:
        print("\nslowhttptest is not installed: the attacks above are ours alone")
        return
    print("\nslowhttptest")
    for name, arguments in TOOL.items():
        url = f"http://127.0.0.1:{running.port}/healthz"
        command = [tool, *arguments, "-c", str(count), "-r", "500", "-i", "5", "-l", "30", "-p", "3", "-u", url]
        said = subprocess.run(command, capture_output=True, text=True, cwd=tempfile.gettempdir()).stdout
        available = "service available:" in said and "NO" not in said.rpartition("service available:")[2][:20]
        ended = re.sub(r"\x1b\[[\d;]*m", "", said).rpartition("Exit status:")[2].strip()
        print(f"{name:<14} {'others were served' if available else 'others were not served'}; {ended}", flush=True)
        if not available:
            yield f"slowhttptest, {name}: others were not served"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--connections", type=int, default=1_000, help="connections of each slow attack")
    parser.add_argument("--megabytes", type=int, default=200, help="length of each long body")
    options = parser.parse_args()
    # All of them come from one address here.
    os.environ["DIRECTORY_SERVER_HTTP__PER_ADDRESS"] = str(2 * options.connections)
    with server() as (running, key):
        wrong = [
            *slow(running, key, options.connections),
            *long(running, options.megabytes),
            *slowhttptest(running, options.connections),
        ]
    sys.exit("\n".join(["", *wrong]) if wrong else None)


if __name__ == "__main__":
    main()
