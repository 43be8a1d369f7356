"""What a request costs: ours, with keys, quota and limits, beside the SDKs and plain servers without any.

    python -m bench.http [--requests 10000] [--entries FILE] [--only WORD]

runs each server alone on the first core and a client with 64 open connections on the second. All servers answer one
fixed page of 50 hits; ours also searches the entries of FILE. Every request of ours is charged to a key of 20 requests
an hour, as many keys as that takes. `bench/peers/install.sh` brings the peers; what is not there is skipped.
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
from collections.abc import Iterator, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

from attrs import asdict, frozen

from directory_server import embedded, sample
from directory_server.model import Entry
from directory_server.wire import decode_entry

from . import _contenders, _load, _requests
from ._requests import SEARCH, Credentials

MCP = "/api/open/mcp"
PER_KEY = 20
WARM = 500

REAL = Path(__file__).parent.parent.parent / "shared" / "data" / "entries.jsonl.gz"


@frozen
class Row:
    """A line of the table."""

    name: str
    door: str
    outcome: _load.Outcome

    @property
    def cpu(self) -> float:
        """CPU seconds for 10,000 requests."""
        return self.outcome.cpu / self.outcome.requests * 10_000


class Bench:
    """Runs the servers one after the other."""

    def __init__(self, options: argparse.Namespace, entries: Sequence[Entry]) -> None:
        cores = sorted(os.sched_getaffinity(0))
        self._server_cpu, self._client_cpu = (cores[0], cores[1]) if len(cores) > 1 else (None, None)
        self._count = options.requests + WARM
        self._seconds = options.seconds
        self._entries = entries
        self._only = options.only
        self.rows: list[Row] = []

    def ours(self, folder: Path, *, stub: bool) -> None:
        """Measure our server, through both doors, with queries that all differ and with a few that repeat."""
        name = "ours, stub index" if stub else f"ours, {len(self._entries):,} entries"
        if self._only not in name:
            return
        doors: list[tuple[str, Any]] = [
            ("REST", lambda *it: _requests.rest(SEARCH, *it)),
            ("MCP", lambda *it: _requests.calls(MCP, *it)),
            ("MCP modern", lambda *it: _requests.calls(MCP, *it, modern=True)),
        ]
        keys = make_keys(folder, -(-self._count // PER_KEY) * len(doors) * 2)
        print(f"{name}: {len(keys):,} keys of {PER_KEY} requests an hour", flush=True)
        given = iter([Credentials(key) for key in keys for _ in range(PER_KEY)])
        with _contenders.ours(folder, self._server_cpu, stub=stub) as running:
            for door, made in doors:
                for distinct in (True, False):
                    asked = _requests.queries(self._entries, self._count, distinct=distinct)
                    kind = f"{door}, {'distinct' if distinct else 'repeated'}"
                    self._measure(name, kind, running, made(asked, given))

    def peer(self, peer: _contenders.Peer) -> None:
        """Measure another server, through the one door that it has."""
        if self._only not in peer.name:
            return
        if peer.missing:
            print(f"{peer.name}: skipped, {peer.missing}", flush=True)
            return
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
        settings = _load.Settings(running.port, running.process, WARM, 64, self._seconds, self._client_cpu)
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
        self.rows.append(Row(name, door, outcome))
        print(line(self.rows[-1]), flush=True)


def make_keys(folder: Path, count: int) -> list[str]:
    """Make keys of PER_KEY requests an hour in a data directory; return their secrets."""
    data = embedded.DataDirectory(folder)
    ring = embedded.SqliteKeyRing(data.directory, time.time)
    made = [embedded.finished(ring.create("bench", limit=PER_KEY, expires_at=None))[1] for _ in range(count)]
    data.close()
    return made


def read(file: Path) -> list[Entry]:
    """Return the entries of a file of the sample's form, or of one entry a line, gzipped."""
    if file.suffix == ".gz":
        with gzip.open(file) as lines:
            return [decode_entry(json.loads(each)) for each in lines]
    return [decode_entry(each) for each in json.loads(file.read_bytes())["servers"]]


HEADING = f"{'server':<34} {'door':<22} {'req/s':>7} {'CPU s/10k':>9} {'p50 ms':>7} {'p99 ms':>7} {'bytes':>7}"


def line(row: Row) -> str:
    done = row.outcome
    return (
        f"{row.name:<34} {row.door:<22} {done.requests / done.seconds:>7.0f} {row.cpu:>9.3f} "
        f"{done.p50:>7.1f} {done.p99:>7.1f} {done.size:>7,}"
    )


def ratios(rows: Sequence[Row]) -> Iterator[str]:
    """Yield how many times the CPU of ours each other server takes, with the same page behind both."""
    ours = {
        row.door.partition(",")[0]: row for row in rows if row.name == "ours, stub index" and "distinct" in row.door
    }
    repeated = {
        row.door.partition(",")[0]: row for row in rows if row.name == "ours, stub index" and "repeat" in row.door
    }
    for row in rows:
        door = row.door.partition(",")[0]
        if row.name.startswith("ours") or door not in ours:
            continue
        against = f"{row.cpu / ours[door].cpu:>6.1f} × distinct {row.cpu / repeated[door].cpu:>6.1f} × repeated"
        yield f"{row.name:<34} {door:<22} {against}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=10_000, help="requests of each measurement, at most")
    parser.add_argument("--seconds", type=float, default=15.0, help="seconds of each measurement, at most")
    parser.add_argument("--entries", type=Path, default=REAL if REAL.exists() else sample.path())
    parser.add_argument("--nginx", default=shutil.which("nginx"), help="path of nginx")
    parser.add_argument("--only", default="", help="only the servers with this in their names")
    options = parser.parse_args()

    bench = Bench(options, read(options.entries))
    print(HEADING)
    with tempfile.TemporaryDirectory() as stub, tempfile.TemporaryDirectory() as real:
        bench.ours(Path(stub), stub=True)
        if options.only in "ours, entries":
            command = str(Path(sys.executable).with_name("directory-server"))
            subprocess.run(
                [command, "--data-dir", real, "import", str(options.entries)], check=True, capture_output=True
            )
            bench.ours(Path(real), stub=False)
    for peer in _contenders.peers(options.nginx):
        bench.peer(peer)
    print("\nCPU of each, in times that of ours with the same page behind it:")
    print("\n".join(ratios(bench.rows)))


if __name__ == "__main__":
    for name in [name for name in os.environ if name.startswith("DIRECTORY_SERVER_")]:
        del os.environ[name]
    main()
