"""Whether the server stays as it is: streams come and go, searches are asked, entries change, for minutes on end.

    python -m bench.soak [--minutes N] [--streams N]

keeps so many streams open while a tenth of them are replaced each second, searches and imports beside that, and prints
memory and open files as it goes. It exits with 1 if these have grown in the second half, or anything was logged as a
failure.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

from ._crowd import crowd
from ._servers import Server, ours

GROWTH = 1.05
"""How many times the memory of the first half's end the second half may reach."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--streams", type=int, default=1_000)
    chosen = parser.parse_args()
    with ours(chosen.streams, "streams.rotation=60", "streams.heartbeat=5") as server:
        memory, files, failures = soak(server, chosen.minutes * 60, chosen.streams)
        log = server.log()
    half = len(memory) // 2
    grown = max(memory[half:]) > GROWTH * max(memory[:half]) or max(files[half:]) > max(files[:half]) + 100
    failures += [line for line in log.splitlines() if "Traceback" in line or "#critical" in line or "#error" in line]
    for line in failures[:20]:
        print(line)
    print(f"{'It has grown' if grown else 'It is as it was'}; {len(failures)} failures.")
    sys.exit(1 if grown or failures else 0)


def soak(server: Server, seconds: float, streams: int) -> tuple[list[int], list[int], list[str]]:
    """Return memory in bytes and open files, as they were every few seconds, and what failed."""
    end = time.monotonic() + seconds
    memory: list[int] = []
    files: list[int] = []
    failures: list[str] = []
    others = [
        threading.Thread(target=_searches, args=(server, end, failures)),
        threading.Thread(target=_imports, args=(server, end, failures)),
    ]
    with crowd(server.asking) as readers:
        readers("open", streams, 100)
        for each in others:
            each.start()
        shown = 0.0
        while time.monotonic() < end:
            readers("close", streams // 10)
            opened = readers("open", streams - readers("idle", 0.5), 100)
            if opened["errors"]:
                failures.append(f"{opened['errors']} streams did not open")
            server.publish(b"event: message\ndata: {}\n\n")
            readers("idle", 0.5)
            if time.monotonic() - shown > 5:
                shown = time.monotonic()
                memory.append(server.rss())
                files.append(len(os.listdir(f"/proc/{server.pids[0]}/fd")))
                told = json.loads(server.look())
                print(f"{end - shown:6.0f} s left  {memory[-1] / 1e6:7.1f} MB  {files[-1]:6} files  {told}", flush=True)
        for each in others:
            each.join()
    return memory, files, failures


def _searches(server: Server, end: float, failures: list[str]) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", server.asking.port, timeout=30)
    head = {"Authorization": f"Bearer {server.asking.keys[0]}"}
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
