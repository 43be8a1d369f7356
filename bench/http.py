"""What a request costs: ours, with keys, quota and limits, beside the SDKs and plain servers without any.

    python -m bench.http [--requests 10000] [--repeats 3] [--entries FILE] [--only WORD]

runs each server alone on the first core and a client with 64 open connections on the second, all of them in turn, as
often as is said. All servers answer one fixed page of 50 hits; ours also searches the entries of FILE, and runs as two
processes on one port, which share both cores with the client. Every request of ours is charged to a key of 20 requests
an hour, as many keys as that takes. `bench/peers/install.sh` brings the peers; what is not there is skipped. Figures
are medians of the repeats.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import cycle
from pathlib import Path

from attrs import asdict

from directory_server import sample, sqlite
from directory_server.domain.entries import Entry
from directory_server.run_sync import run_sync
from directory_server.serialization import decode_entry

from . import _contenders, _load, _requests, _results
from ._requests import SEARCH, Credentials
from ._results import HEADING, Row, goals, table

MCP = "/api/open/mcp"
PER_KEY = 20
WARM = 500

REAL = Path(__file__).parent.parent.parent / "shared" / "data" / "entries.jsonl.gz"


class Bench:
    """Runs the servers one after the other, again and again, and keeps what comes of it."""

    def __init__(self, options: argparse.Namespace, entries: Sequence[Entry], folder: Path) -> None:
        cores = sorted(os.sched_getaffinity(0))
        self._server_cpu: int | None = cores[0] if len(cores) > 1 else None
        self._client_cpu: int | None = cores[1] if len(cores) > 1 else None
        self._count = options.requests + WARM
        self._seconds = options.seconds
        self._entries = entries
        self._real = f"ours, {len(entries):,} entries"
        self._folder = folder
        self._file = options.entries
        self._only = options.only
        self._peers = _contenders.peers(options.nginx)
        self._outcomes: dict[tuple[str, str], list[_load.Outcome]] = {}

    def rows(self) -> list[Row]:
        return [Row(server, door, outcomes) for (server, door), outcomes in self._outcomes.items()]

    def prepare(self) -> None:
        """Tell what is missing, and fill the real directory."""
        for peer in self._peers:
            if peer.missing and self._only in peer.name:
                print(f"{peer.name}: skipped, {peer.missing}", flush=True)
        if self._only in self._real:
            command = str(Path(sys.executable).with_name("directory-server"))
            arguments = ["--data-dir", str(self._folder / self._real), "import", "--official", str(self._file)]
            subprocess.run([command, *arguments], check=True, capture_output=True)

    def round(self) -> None:
        """Measure each server once."""
        for name in (_results.STUB, self._real, _results.FLEET):
            if self._only in name:
                self._tried(name, partial(self._ours, name))
        for peer in self._peers:
            if self._only in peer.name and not peer.missing:
                self._tried(peer.name, partial(self._peer, peer))

    def _tried(self, name: str, measure: Callable[[], None]) -> None:
        try:
            measure()
        except (_contenders.DidNotStart, OSError) as error:
            print(f"{name}: skipped, {error}", flush=True)

    def _ours(self, name: str) -> None:
        """Measure our server, through both doors, with queries that all differ and with a few that repeat."""
        doors: list[tuple[str, Callable[..., list[bytes]]]] = [
            ("REST", partial(_requests.rest, SEARCH)),
            ("MCP", partial(_requests.calls, MCP)),
            ("MCP modern", partial(_requests.calls, MCP, modern=True)),
        ]
        folder, stub = self._folder / name, name != self._real
        keys = make_keys(folder, -(-self._count // PER_KEY) * len(doors) * 2)
        given = iter([Credentials(key) for key in keys for _ in range(PER_KEY)])
        processes = 2 if name == _results.FLEET else 1
        with _contenders.ours(folder, self._server_cpu, stub=stub, processes=processes) as running:
            for door, made in doors:
                for distinct in (True, False):
                    asked = _requests.queries(self._entries, self._count, distinct=distinct)
                    self._measure(
                        name, f"{door}, {'distinct' if distinct else 'repeated'}", running, made(asked, given)
                    )

    def _peer(self, peer: _contenders.Peer) -> None:
        """Measure another server, through the one door that it has."""
        with _contenders.serving(peer, self._server_cpu) as running:
            sessions = [_contenders.session(running, peer.path) for _ in range(64 if peer.sessions else 0)]
            given = cycle([Credentials(session=each) for each in sessions] or [Credentials()])
            asked = _requests.queries(self._entries, self._count, distinct=True)
            if peer.path == "/mcp":
                made = _requests.calls(peer.path, asked, given, modern=peer.modern)
                self._measure(peer.name, "MCP modern" if peer.modern else "MCP", running, made)
            else:
                self._measure(peer.name, "REST", running, _requests.rest(peer.path, asked, given))

    def _measure(self, name: str, door: str, running: _contenders.Running, requests: Sequence[bytes]) -> None:
        client_cpu = self._client_cpu if len(running.processes) == 1 else None
        settings = _load.Settings(running.port, running.processes, WARM, 64, self._seconds, client_cpu)
        with tempfile.NamedTemporaryFile() as file:
            _load.save(requests, Path(file.name))
            done = subprocess.run(
                [sys.executable, "-m", "bench._load", file.name],
                input=json.dumps(asdict(settings)),
                capture_output=True,
                text=True,
                cwd=_contenders.PROJECT,
            )
        if done.returncode:
            print(f"{name}, {door}: {done.stderr.strip().splitlines()[-1]}", flush=True)
            return
        outcome = _load.Outcome(**json.loads(done.stdout))
        if outcome.failed:
            print(f"{name}, {door}: {outcome.failed} failed, the first answer is {outcome.first[:300]}", flush=True)
            return
        self._outcomes.setdefault((name, door), []).append(outcome)
        print(Row(name, door, [outcome]).line(), flush=True)


def make_keys(folder: Path, count: int) -> list[str]:
    """Make keys of PER_KEY requests an hour in a data directory; return their secrets."""
    data = sqlite.DataDirectory(folder)
    ring = sqlite.SqliteKeyRing(data.directory, time.time)
    made = [run_sync(ring.create("bench", limit=PER_KEY, expires_at=None))[1] for _ in range(count)]
    data.close()
    return made


def read(file: Path) -> list[Entry]:
    """Return the entries of a file of the sample's form, or of one entry a line, gzipped."""
    if file.suffix == ".gz":
        with gzip.open(file) as lines:
            return [decode_entry(json.loads(each)) for each in lines]
    return [decode_entry(each) for each in json.loads(file.read_bytes())["servers"]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=10_000, help="requests of each measurement, at most")
    parser.add_argument("--seconds", type=float, default=15.0, help="seconds of each measurement, at most")
    parser.add_argument("--repeats", type=int, default=3, help="how often each is measured")
    parser.add_argument("--entries", type=Path, default=REAL if REAL.exists() else sample.path())
    parser.add_argument("--nginx", default=shutil.which("nginx"), help="path of nginx")
    parser.add_argument("--only", default="", help="only the servers with this in their names")
    options = parser.parse_args()

    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(options, read(options.entries), Path(folder))
        bench.prepare()
        for number in range(1, options.repeats + 1):
            print(f"\nround {number} of {options.repeats}\n{HEADING}", flush=True)
            bench.round()
    print("\nall rounds", *table(bench.rows()), "", *goals(bench.rows()), sep="\n")


if __name__ == "__main__":
    for name in [name for name in os.environ if name.startswith("DIRECTORY_SERVER_")]:
        del os.environ[name]
    main()
