"""Load two servers on PostgreSQL for minutes while the database and one of them are killed in turn.

    python -m bench.cluster_soak [--minutes N] [--streams N] [--pause SECONDS]

Clients charge keys, publish entries, and follow the change feed at one server after the other. Meanwhile entries are
imported, and N streams stay open at the server that is not killed. After each kill the table has the recovery time,
and the memory, threads and files of that server. The exit code is 1 if a charge or a change is lost or doubled, if a
stream ends, if a server logs a defect, or if the server uses more resources in the second half than in the first.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import ExitStack
from pathlib import Path

from attrs import define, field

from directory_server.run_sync import run_sync
from tests.cluster._machines import Machines, running_machines
from tests.cluster._workload import Workload, storage

from .clients.stream_clients import StreamRequest, stream_clients
from .measurement.process_stats import Resources, resources
from .servers.launch import SCRIPTS
from .servers.measured_storages import database_server

GROWTH = 1.1
"""Maximum ratio of the memory in the second half to that in the first. The publishers add entries all the time."""

THREADS, FILES = 10, 60
"""Threads and files that the server may have more in the second half."""

PER_KEY = 8
"""Streams of a key, half of its limit."""

PUBLISH_PAUSE = 2.0
"""Seconds between two batches of each publisher."""

IMPORTED = 200
"""Entries of each import. The names are the same each time, so that the stored data do not grow."""


@define
class Soak:
    """Two running servers under `workload`; the first one is not killed."""

    machines: Machines
    workload: Workload
    pause: float
    failures: list[str] = field(factory=list)
    samples: list[Resources] = field(factory=list)
    recovery: dict[str, list[float]] = field(factory=dict)

    def run(self, seconds: float) -> None:
        """Kill the database and the second server in turn for `seconds`."""
        end = time.monotonic() + seconds
        imports = threading.Thread(target=self._imports, args=(end,))
        imports.start()
        faults = {"database": self._kill_database, "server": self._kill_server}
        while time.monotonic() < end:
            for name, fault in faults.items():
                time.sleep(self.pause)
                fault()
                took = self.workload.recovered()
                self.recovery.setdefault(name, []).append(took)
                self._observe(f"{name} killed, {took:.2f} s")
        imports.join()

    def grown(self) -> list[str]:
        """Return the names of the resources that grew."""
        half = len(self.samples) // 2
        first, second = self.samples[:half], self.samples[half:]
        if not first:
            return []
        found = {
            "memory": max(each.memory for each in second) > GROWTH * max(each.memory for each in first),
            "threads": max(each.threads for each in second) > max(each.threads for each in first) + THREADS,
            "files": max(each.files for each in second) > max(each.files for each in first) + FILES,
        }
        return [name for name, has_grown in found.items() if has_grown]

    def _kill_database(self) -> None:
        self.machines.engine.kill()
        self.machines.engine.start()

    def _kill_server(self) -> None:
        victim = self.machines.servers[1]
        victim.process.kill()
        victim.process.wait()
        self.machines.servers[1] = self.machines.start(1)
        self.workload.servers[:] = self.machines.servers

    def _observe(self, name: str) -> None:
        server = self.machines.servers[0]
        seen = resources(server.process.pid, server.port)
        self.samples.append(seen)
        print(
            f"{name:<28}{seen.memory / 1e6:8.1f} MB {seen.threads:4} threads {seen.files:6} files"
            f"  {self.workload.acknowledged.total():8,} charges {server.entry_count():8,} entries",
            flush=True,
        )

    def _imports(self, end: float) -> None:
        conninfo = self.machines.engine.conninfo
        command = [str(SCRIPTS / "directory-server"), "--set", f"database={conninfo}", "import", "-"]
        turn = 0
        while time.monotonic() < end:
            turn += 1
            lines = [
                {"name": f"soak.example/{number}", "version": "1.0.0", "description": f"A soak server, turn {turn}."}
                for number in range(IMPORTED)
            ]
            done = subprocess.run(command, input="\n".join(map(json.dumps, lines)), text=True, capture_output=True)
            # An import that meets a killed database fails with one line; the next one succeeds.
            if done.returncode and "database" not in done.stderr:
                self.failures.append(f"an import ended with {done.returncode}: {done.stderr[-300:]}")
            time.sleep(5)


def main() -> int:
    """Print the table; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10.0, help="minutes of load")
    parser.add_argument("--streams", type=int, default=200, help="open streams of the server that is not killed")
    parser.add_argument("--pause", type=float, default=10.0, help="seconds between two kills")
    chosen = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        engine = stack.enter_context(database_server())
        machines = stack.enter_context(running_machines(engine, folder))
        with storage(engine.conninfo) as opened:
            made = [
                run_sync(opened.keys.create("stream", limit=None, expires_at=None))
                for _ in range(-(-chosen.streams // PER_KEY))
            ]
        head = "GET /api/open/mcp HTTP/1.1\r\nHost: localhost:1\r\nAuthorization: Bearer KEY\r\n"
        stream = f"{head}Accept: text/event-stream\r\n\r\n".encode()
        keys = [secret for _, secret in made]
        readers = stack.enter_context(
            stream_clients(StreamRequest(machines.servers[0].port, stream, b"retry: 3000\n\n", keys=keys))
        )
        failures: list[str] = []
        if errors := readers("open", chosen.streams, 50)["errors"]:
            failures.append(f"{errors} streams did not open")
        with Workload(list(machines.servers), engine.conninfo, PUBLISH_PAUSE, imports=True) as workload:
            soak = Soak(machines, workload, chosen.pause)
            soak.run(chosen.minutes * 60)
            workload.finish()
        try:
            workload.check_charges()
            workload.check_changes()
        except AssertionError as error:
            failures.append(f"the database is not as the clients saw it: {error}")
        if (left := readers("idle", 1.0)) != chosen.streams:
            failures.append(f"{chosen.streams - left} streams ended")
        log = machines.log()
    failures += soak.failures + [line for line in log.splitlines() if "Traceback" in line or "#critical" in line]
    for line in failures[:20]:
        print(line)
    for name, took in soak.recovery.items():
        took.sort()
        print(f"{name} killed {len(took)} times: charges after {took[len(took) // 2]:.2f} s, {took[-1]:.2f} s at most")
    print(f"{workload.acknowledged.total():,} charges acknowledged, {workload.unknown.total():,} failed.")
    print(f"Growth: {', '.join(soak.grown()) or 'none'}. Failures: {len(failures)}.")
    return 1 if failures or soak.grown() else 0


if __name__ == "__main__":
    sys.exit(main())
