"""Measure imports beside a running server, the start of a server, and its memory.

    python -m bench.service [FILE]

starts a server with an empty data directory, imports FILE twice while it runs, and starts another server on the result.
FILE is by default the real catalogue.

    python -m bench.service --data DIR [--entries 1000000]

starts a server on the data directory DIR, twice: the first start may have to build the index or the schema, the second
one reads the file of the index. It measures start, memory, searches, changes, lists, and the longest turns of the
reactor, with goals of a million entries, and exits with 1 if one is missed. DIR is changed: it gets keys, a publisher
token and changed entries. With `--entries`, synthetic entries are added first, up to that number.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path

from .catalogue.files import REAL, read_entries, read_sample
from .catalogue.queries import hostile, word_pairs
from .catalogue.synthetic import SyntheticAnalysis, synthetic_entries
from .measurement.process_stats import memory, peak_memory
from .servers.data_directory import count_entries, publish, wait_for_index_file
from .servers.kept_directory import Row, kept_server, rows
from .servers.launch import directory_server, health, run_command

FILE_WRITTEN = 600.0
"""Seconds within which the file of the index must be written."""


def imports(file: Path) -> None:
    """Print the figures of imports into a new data directory."""
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
    print(f"{name:<42}{value}", flush=True)


def kept(folder: Path, file: Path, entries: int, requests: int, changes: int) -> bool:
    """Print the figures of a server on `folder`; return whether all goals are reached."""
    catalogue = read_entries(file) if file.exists() else read_sample()
    if (stored := count_entries(folder)) < entries:
        added = islice(synthetic_entries(catalogue, entries), stored, None)
        seconds = publish(folder, added, source="local", analysis=SyntheticAnalysis(catalogue))
        row("publish, CPU µs per entry", f"{seconds / (entries - stored) * 1e6:.0f}")
    queries = word_pairs(catalogue, 2 * requests, distinct=True)
    with kept_server(folder, queries[0]) as (_, first):
        for each in first:
            row(f"first: {each.name}", each.text)
        wait_for_index_file(folder, FILE_WRITTEN)
    found: list[Row] = []
    with kept_server(folder, queries[0]) as (server, started):
        odd = [text for _, text in hostile(catalogue)]
        for each in (*started, *rows(server, queries, odd, changes)):
            print(each, flush=True)
            found.append(each)
    return all(each.goal is None or each.value <= each.goal for each in found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, nargs="?", default=REAL, metavar="FILE", help="entries to import")
    parser.add_argument("--data", type=Path, metavar="DIR", help="measure a server on a data directory instead")
    parser.add_argument("--entries", type=int, default=0, help="with --data: add synthetic entries up to this number")
    parser.add_argument("--requests", type=int, default=2_000, help="with --data: searches of a measurement")
    parser.add_argument("--changes", type=int, default=20, help="with --data: changes of a measurement")
    options = parser.parse_args()
    if options.data is None:
        imports(options.file)
    elif not kept(options.data.absolute(), options.file, options.entries, options.requests, options.changes):
        sys.exit("a goal is missed")


if __name__ == "__main__":
    os.environ.pop("DIRECTORY_SERVER_CONFIG", None)
    main()
