"""Measure a server on a data directory: start, memory, searches, changes, lists and reactor turns.

    python -m bench.service                                   the real catalogue, in a new data directory
    python -m bench.service --data DIR --entries 1000000      a million entries, in the data directory DIR

starts a server twice: the first start may have to build the index or the schema, the second one reads the file of the
index. Entries are added first, up to the given number; those beyond the real ones are synthetic. The goals are those of
a million entries; the exit code is 1 if one is missed. DIR is changed: it gets keys, a publisher token and changed
entries.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from directory_server.domain.entries import Entry

from .catalogue.files import REAL, read_entries, read_sample
from .catalogue.queries import hostile, word_pairs
from .catalogue.synthetic import SyntheticAnalysis, synthetic_entries
from .servers.data_directory import count_entries, publish, wait_for_index_file
from .servers.kept_directory import Row, kept_server, rows

FILE_WRITTEN = 600.0
"""Seconds within which the file of the index must be written."""


def row(name: str, value: str) -> None:
    print(f"{name:<42}{value}", flush=True)


def kept(folder: Path, catalogue: Sequence[Entry], entries: int, requests: int, changes: int) -> bool:
    """Print the figures of a server on `folder`; return whether all goals are reached."""
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
    parser.add_argument("--file", type=Path, default=REAL, help="gzipped JSON Lines of entries")
    parser.add_argument("--data", type=Path, metavar="DIR", help="data directory (default: a new one)")
    parser.add_argument("--entries", type=int, help="add entries up to this number (default: those of the file)")
    parser.add_argument("--requests", type=int, default=2_000, help="searches of a measurement")
    parser.add_argument("--changes", type=int, default=20, help="changes of a measurement")
    options = parser.parse_args()
    catalogue = read_entries(options.file) if options.file.exists() else read_sample()
    entries = len(catalogue) if options.entries is None else options.entries
    with tempfile.TemporaryDirectory() as new:
        folder = (options.data or Path(new)).absolute()
        if not kept(folder, catalogue, entries, options.requests, options.changes):
            sys.exit("a goal is missed")


if __name__ == "__main__":
    os.environ.pop("DIRECTORY_SERVER_CONFIG", None)
    main()
