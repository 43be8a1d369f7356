"""Load a server in several ways at once for minutes, and check that its resources do not grow.

    python -m bench.soak [--minutes N] [--streams N]

keeps N streams open and replaces a tenth of them each second. Meanwhile there are searches, imports, clients that close
their connections in every way during large responses, and faulty upstreams, all on loopback. The table shows the
server's sockets, threads, files, memory and longest reactor turn: idle before the load, under load, and after all
clients have closed. The exit code is 1 if the server uses more resources afterwards than before, if memory or files
grow in the second half of the load, or if the server logs a failure.
"""

from __future__ import annotations

import argparse
import http.client
import json
import subprocess
import sys
import threading
import time

from attrs import define, field

from .clients.closing_clients import ClosingClients
from .clients.stream_clients import stream_clients
from .measurement.process_stats import Resources, resources
from .servers.fake_upstreams import faulty_upstreams
from .servers.launch import SCRIPTS
from .servers.stream_contenders import StreamServer, directory_streams

GROWTH = 1.05
"""Maximum ratio of the memory in the second half of the load to that in the first half."""

SETTLE = 100.0
"""Seconds within which connections without a client must be closed. Idle ones stay open for 75 seconds."""

THREADS = 20
FILES = 60
"""Threads, and files of their databases, that a server may keep after the load."""

UPSTREAMS = 3


@define
class Soak:
    """A server under load, and its resources at several moments. `worst` is the longest turn in milliseconds."""

    server: StreamServer
    seconds: float
    streams: int
    failures: list[str] = field(factory=list)
    samples: list[Resources] = field(factory=list)
    worst: int = 0

    def observe(self, name: str) -> Resources:
        """Print and return the server's resources; print the longest turn since the last call."""
        turn = self.server.control("turns=1")["turn"]
        self.worst = max(self.worst, turn)
        seen = resources(self.server.processes[0], self.server.stream_request.port)
        sockets = ", ".join(f"{count} {kind}" for kind, count in sorted(seen.sockets.items()) if kind != "LISTEN")
        print(
            f"{name:<16} {seen.memory / 1e6:8.1f} MB {seen.threads:4} threads {seen.files:6} files "
            f"{turn:6} ms turn  {sockets or 'no sockets'}",
            flush=True,
        )
        return seen

    def run(self) -> list[str]:
        """Load the server; return the names of the resources that grew."""
        self.server.control("turns=1")
        time.sleep(3)
        before = self.observe("idle before")
        closing = ClosingClients(self.server.stream_request.port, self.server.stream_request.keys[0])
        end = time.monotonic() + self.seconds
        others = [
            threading.Thread(target=_searches, args=(self.server, end, self.failures)),
            threading.Thread(target=_imports, args=(self.server, end, self.failures)),
            threading.Thread(target=closing.run, args=(end,)),
        ]
        with stream_clients(self.server.stream_request) as readers:
            readers("open", self.streams, 100)
            for each in others:
                each.start()
            shown = 0.0
            while time.monotonic() < end:
                readers("close", self.streams // 10)
                opened = readers("open", self.streams - readers("idle", 0.5), 100)
                if opened["errors"]:
                    self.failures.append(f"{opened['errors']} streams did not open")
                self.server.publish(b"event: message\ndata: {}\n\n")
                readers("idle", 0.5)
                if time.monotonic() - shown > 5:
                    shown = time.monotonic()
                    self.samples.append(self.observe(f"{end - shown:.0f} s left"))
            for each in others:
                each.join()
        after = self.observe("clients closed")
        settled = time.monotonic() + SETTLE
        while after.connections > before.connections and time.monotonic() < settled:
            time.sleep(1)
            after = resources(self.server.processes[0], self.server.stream_request.port)
        after = self.observe("idle after")
        for (way, status), count in sorted(closing.responses.items()):
            print(f"  {way:<20} {status or 'no response':>11} {count:8,}")
        return self._grown(before, after)

    def _grown(self, before: Resources, after: Resources) -> list[str]:
        half = len(self.samples) // 2
        first, second = self.samples[:half], self.samples[half:]
        found = {
            "sockets": after.connections > before.connections,
            "threads": after.threads > before.threads + THREADS,
            "files": after.files > before.files + FILES,
            "files under load": bool(first)
            and max(each.files for each in second) > max(each.files for each in first) + 100,
            "memory under load": bool(first)
            and max(each.memory for each in second) > GROWTH * max(each.memory for each in first),
        }
        return [name for name, has_grown in found.items() if has_grown]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10.0, help="minutes of load")
    parser.add_argument("--streams", type=int, default=1_000, help="open streams")
    chosen = parser.parse_args()
    settings = ("streams.rotation=60", "streams.heartbeat=5")
    with (
        faulty_upstreams(UPSTREAMS) as tables,
        directory_streams(chosen.streams, *settings, configuration=tables) as server,
    ):
        soak = Soak(server, chosen.minutes * 60, chosen.streams)
        grown = soak.run()
        log = server.log()
    failures = soak.failures + [
        line
        for line in log.splitlines()
        if "Traceback" in line or "#critical" in line or ("#error" in line and "Upstream bad" not in line)
    ]
    for line in failures[:20]:
        print(line)
    rejected = sum("Upstream bad" in line and "#error" in line for line in log.splitlines())
    print(f"Logged faults of upstreams: {rejected}. Longest turn under load: {soak.worst} ms.")
    print(f"Growth: {', '.join(grown) or 'none'}. Failures: {len(failures)}.")
    sys.exit(1 if grown or failures else 0)


def _searches(server: StreamServer, end: float, failures: list[str]) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", server.stream_request.port, timeout=30)
    head = {"Authorization": f"Bearer {server.stream_request.keys[0]}"}
    while time.monotonic() < end:
        for words in ("postgres", "weather+mail", "soak+server", "nothing+at+all"):
            connection.request("GET", f"/api/open/v1/search?keywords={words}", headers=head)
            response = connection.getresponse()
            response.read()
            if response.status != 200:
                failures.append(f"a search had the status {response.status}")
        time.sleep(0.05)


def _imports(server: StreamServer, end: float, failures: list[str]) -> None:
    command = [str(SCRIPTS / "directory-server"), "--data-dir", server.folder, "import", "-"]
    turn = 0
    while time.monotonic() < end:
        turn += 1
        # The same names each time: the stored data must not grow.
        lines = [
            {"name": f"soak.example/{number}", "version": "1.0.0", "description": f"A soak server, turn {turn}."}
            for number in range(200)
        ]
        done = subprocess.run(command, input="\n".join(map(json.dumps, lines)), text=True, capture_output=True)
        if done.returncode:
            failures.append(f"an import ended with {done.returncode}: {done.stderr[-300:]}")
        time.sleep(2)


if __name__ == "__main__":
    main()
