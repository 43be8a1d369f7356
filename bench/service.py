"""Measure imports beside a running server, the start of a server, and its memory.

    python -m bench.service [FILE]

starts a server with an empty data directory, imports FILE twice while it runs, and starts another server on the result.
FILE is by default the real catalogue.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from pathlib import Path

from .catalogue.files import REAL
from .measurement.process_stats import memory, peak_memory
from .servers.launch import directory_server, health, run_command


def main(file: Path) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with directory_server(folder) as server:
            seconds, report = run_command(folder, "import", "--official", str(file))
            ended = time.monotonic()
            entries = int(run_command(folder, "status")[1].split("entries")[1].split()[0].replace(",", ""))
            while health(server.port)["entries"] < entries:
                time.sleep(0.05)
            searchable = time.monotonic() - ended
            row("import, seconds", f"{seconds:.1f}")
            row("import, peak MB", f"{resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 / 1e6:.0f}")
            row("import, report", report.strip())
            row("all searchable after, seconds", f"{searchable:.1f}")
            row("server meanwhile, peak MB", f"{peak_memory(server.process) / 1e6:.0f}")
            seconds, report = run_command(folder, "import", "--official", str(file))
            row("second import, seconds", f"{seconds:.1f}")
            row("second import, report", report.strip())
        began = time.monotonic()
        with directory_server(folder) as server:
            row("start, seconds", f"{time.monotonic() - began:.1f}")
            row("server, MB", f"{memory(server.process) / 1e6:.0f}")


def row(name: str, value: str) -> None:
    print(f"{name:<32}{value}", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else REAL)
