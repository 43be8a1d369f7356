"""What a real catalogue costs the whole service: import beside a running server, start-up, memory.

    python -m bench.service [FILE]

starts a server of its own on a free port with an empty data directory, imports FILE beside it, imports it again,
then kills the server and starts another on what is there.
"""

from __future__ import annotations

import http.client
import json
import os
import resource
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ._judged import DATA

SCRIPTS = Path(sys.executable).parent


def main(file: Path) -> None:
    with tempfile.TemporaryDirectory() as folder, socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        probe.close()
        with serving(folder, port) as server:
            first = command(folder, "import", "--official", str(file))
            ended = time.monotonic()
            entries = int(command(folder, "status")[1].split("entries")[1].split()[0].replace(",", ""))
            while health(port)["entries"] < entries:
                time.sleep(0.05)
            lag = time.monotonic() - ended
            row("import, seconds", f"{first[0]:.1f}")
            row("import, peak MB", f"{resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024:.0f}")
            row("import, report", first[1].strip())
            row("all found after, seconds", f"{lag:.1f}")
            row("server meanwhile, peak MB", memory(server, "VmHWM"))
            again = command(folder, "import", "--official", str(file))
            row("import again, seconds", f"{again[0]:.1f}")
            row("import again, report", again[1].strip())
        began = time.monotonic()
        with serving(folder, port) as server:
            row("start-up, seconds", f"{time.monotonic() - began:.1f}")
            row("server, MB", memory(server, "VmRSS"))


@contextmanager
def serving(folder: str, port: int) -> Iterator[int]:
    """Serve the data directory `folder`; yield the process id once it answers."""
    listen = f"tcp:{port}:interface=127.0.0.1"
    options = ["--nodaemon", "--pidfile=", "directory", "--data-dir", folder, "--listen", listen]
    process = subprocess.Popen([SCRIPTS / "twistd", *options], stdout=subprocess.DEVNULL)
    try:
        while True:
            try:
                health(port)
                break
            except OSError:
                time.sleep(0.02)
        yield process.pid
    finally:
        process.kill()
        process.wait()


def command(folder: str, *words: str) -> tuple[float, str]:
    """Return how long `directory-server` took, and what it printed."""
    began = time.monotonic()
    done = subprocess.run(
        [SCRIPTS / "directory-server", "--data-dir", folder, *words], check=True, capture_output=True, text=True
    )
    return time.monotonic() - began, done.stdout


def health(port: int) -> dict[str, int]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", "/healthz")
    answer: dict[str, int] = json.load(connection.getresponse())
    connection.close()
    return answer


def memory(process: int, which: str) -> str:
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith(which):
            return f"{int(line.split()[1]) / 1024:.0f}"
    raise LookupError(which)


def row(name: str, value: str) -> None:
    print(f"{name:<28}{value}", flush=True)


if __name__ == "__main__":
    os.environ.pop("DIRECTORY_SERVER_CONFIG", None)
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else DATA / "entries.jsonl.gz")
