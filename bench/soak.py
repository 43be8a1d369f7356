"""Whether the server stays as it is under everything at once, for minutes on end.

    python -m bench.soak [--minutes N] [--streams N]

keeps so many streams open while a tenth of them are replaced each second. Beside that there are searches, imports,
clients that end their connections in every way behind large answers, and upstreams that do everything wrong. All of it
is on loopback. The table shows the server's sockets, threads, files, memory and the longest turn of its reactor: idle
before, under load, and when all clients have gone. It exits with 1 if more is held in the end than before, memory or
files have grown in the second half of the load, or anything was logged as a failure.
"""

from __future__ import annotations

import argparse
import http.client
import json
import subprocess
import sys
import threading
import time
from pathlib import Path

from attrs import define, field

from ._closings import Closings
from ._crowd import crowd
from ._misbehaving import misbehaving
from ._servers import Server, ours
from ._state import State, state

GROWTH = 1.05
"""How many times the memory of the first half's end the second half may reach."""

SETTLE = 100.0
"""Seconds in which connections without a client have to end: an idle one is kept for 75 seconds."""

THREADS = 20
FILES = 60
"""Threads, and files of their databases, that a server may have more once it has worked."""

UPSTREAMS = 3


@define
class Soak:
    """A server under load, and what was seen of it."""

    server: Server
    seconds: float
    streams: int
    failures: list[str] = field(factory=list)
    samples: list[State] = field(factory=list)
    worst: int = 0

    def look(self, name: str) -> State:
        """Print what the server holds now, and the longest turn since the last look."""
        turn = json.loads(self.server.look("turns=1"))["turn"]
        self.worst = max(self.worst, turn)
        seen = state(self.server.pids[0], self.server.stream_request.port)
        sockets = ", ".join(f"{count} {kind}" for kind, count in sorted(seen.sockets.items()) if kind != "LISTEN")
        print(
            f"{name:<16} {seen.memory / 1e6:8.1f} MB {seen.threads:4} threads {seen.files:6} files "
            f"{turn:6} ms turn  {sockets or 'no sockets'}",
            flush=True,
        )
        return seen

    def run(self) -> list[str]:
        """Load the server; return in what it is not as it was."""
        self.server.look("turns=1")
        time.sleep(3)
        before = self.look("idle before")
        closings = Closings(self.server.stream_request.port, self.server.stream_request.keys[0])
        end = time.monotonic() + self.seconds
        others = [
            threading.Thread(target=_searches, args=(self.server, end, self.failures)),
            threading.Thread(target=_imports, args=(self.server, end, self.failures)),
            threading.Thread(target=closings.run, args=(end,)),
        ]
        with crowd(self.server.stream_request) as readers:
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
                    self.samples.append(self.look(f"{end - shown:.0f} s left"))
            for each in others:
                each.join()
        after = self.look("clients gone")
        settled = time.monotonic() + SETTLE
        while after.connections > before.connections and time.monotonic() < settled:
            time.sleep(1)
            after = state(self.server.pids[0], self.server.stream_request.port)
        after = self.look("idle after")
        for (way, status), count in sorted(closings.answers.items()):
            print(f"  {way:<20} {status or 'no answer':>9} {count:8,}")
        return self._grown(before, after)

    def _grown(self, before: State, after: State) -> list[str]:
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
        return [what for what, grown in found.items() if grown]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--streams", type=int, default=1_000)
    chosen = parser.parse_args()
    settings = ("streams.rotation=60", "streams.heartbeat=5")
    with misbehaving(UPSTREAMS) as tables, ours(chosen.streams, *settings, configuration=tables) as server:
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
    print(f"Faults of upstreams that were logged: {rejected}. Longest turn under load: {soak.worst} ms.")
    print(f"{'It has grown: ' + ', '.join(grown) if grown else 'It is as it was'}; {len(failures)} failures.")
    sys.exit(1 if grown or failures else 0)


def _searches(server: Server, end: float, failures: list[str]) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", server.stream_request.port, timeout=30)
    head = {"Authorization": f"Bearer {server.stream_request.keys[0]}"}
    while time.monotonic() < end:
        for words in ("postgres", "weather+mail", "soak+server", "nothing+at+all"):
            connection.request("GET", f"/api/open/v1/search?keywords={words}", headers=head)
            answer = connection.getresponse()
            answer.read()
            if answer.status != 200:
                failures.append(f"a search was answered {answer.status}")
        time.sleep(0.05)


def _imports(server: Server, end: float, failures: list[str]) -> None:
    command = [Path(sys.executable).with_name("directory-server"), "--data-dir", server.folder, "import", "-"]
    turn = 0
    while time.monotonic() < end:
        turn += 1
        # The same names again and again: what is kept must not grow.
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
