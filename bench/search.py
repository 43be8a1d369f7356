"""Measure the index: build time, memory, cost of a change, and latency of judged and of hostile queries.

    python -m bench.search                        the real entries
    python -m bench.search --entries 1000000      a million, most of them synthetic
    python -m bench.search --index DIR            the index in DIR, from its file; written by the first such run
    python -m bench.search --beside               a table beside SQLite FTS5, tantivy and, with --postgres, PostgreSQL

The tables have elapsed times and CPU times in milliseconds; compare CPU times on a machine with other load. Use a fresh
process for each run, because freed memory is rarely returned to the system. `bench.relevance` measures the quality of
the results.

`--beside` measures each engine in a process of its own: the shortest of the elapsed times of a query, of all judged
queries the median and the 99th percentile; the memory that the engine adds to that of the entries, of PostgreSQL only
that of the client; nDCG@10 of each file of queries.
"""

from __future__ import annotations

import argparse
import gc
import os
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from attrs import frozen

from directory_server.domain.changes import Change
from directory_server.domain.entries import Entry
from directory_server.domain.search import Query
from directory_server.run_sync import inline, run_sync
from directory_server.search import ImpactIndex, MappedIndexFile, Spill, TextAnalysis
from directory_server.serialization import encode_entry

from .catalogue.files import QUERIES, REAL, Judged, read_entries, read_judged
from .catalogue.queries import hostile
from .catalogue.synthetic import synthetic_changes
from .engines.baselines import Engine, any_trigram, any_word, full_text, postgres_engine, tantivy_engine
from .engines.ours import LOG, mapped_index, our_engine
from .measurement.process_stats import memory
from .measurement.relevance_metrics import mean, ndcg

CHANGES = 20
"""Single changes that are measured."""

WARM = 3
"""Searches for each query before those that are measured."""


def resident() -> float:
    """Return the resident memory of this process in megabytes, after a garbage collection."""
    gc.collect()
    return memory(os.getpid()) / 1e6


def analysed(entries: Sequence[Entry]) -> list[Change]:
    """Return an addition of each entry, with its analysis; print the time."""
    analysis, began = TextAnalysis(), time.perf_counter()
    changes = [Change(seq, "added", e.mcp_id, encode_entry(e), analysis(e)) for seq, e in enumerate(entries, 1)]
    print(f"{len(changes):,} entries analysed in {time.perf_counter() - began:.1f} s")
    return changes


def load(index: ImpactIndex, folder: Path, entries: Sequence[Entry], count: int, batch: int) -> None:
    """Read the index from its file in `folder`; build it from `count` entries and write the file if there is none."""
    file = MappedIndexFile(index, folder)
    before, began = resident(), time.perf_counter()
    try:
        file.read(LOG)
    except FileNotFoundError:
        build(index, analysed(entries), count, batch)
        began = time.perf_counter()
        file.write(LOG, count, "")
        print(f"file of {file.path.stat().st_size / 1e6:.0f} MB written in {time.perf_counter() - began:.1f} s")
        before, began = resident(), time.perf_counter()
        file.read(LOG)
    file.adopt()
    seconds = time.perf_counter() - began
    print(f"{len(index):,} entries read in {seconds:.1f} s, {before:.0f} MB before, {resident():.0f} MB after\n")


def build(index: ImpactIndex, changes: Sequence[Change], count: int, batch: int) -> None:
    """Build the index from `count` changes; print time and memory."""
    before, began = resident(), time.perf_counter()
    pending: list[Change] = []
    for change in synthetic_changes(changes, count):
        pending.append(change)
        if len(pending) == batch:
            run_sync(index.apply(pending))
            pending = []
    run_sync(index.apply(pending))
    del pending
    seconds, after = time.perf_counter() - began, resident()
    print(
        f"{len(index):,} entries in batches of {batch:,}: {seconds:.1f} s, {before:.0f} MB before, {after:.0f} MB after"
    )


def change(index: ImpactIndex, changes: Sequence[Change]) -> None:
    """Apply single changes; print times."""
    times = [timed(partial(index.apply, [change])) for change in changes]
    wall, cpu = [each.wall for each in times], [each.cpu for each in times]
    print(
        f"one change: p50 {statistics.median(wall):.1f} ms, maximum of {len(times)} {max(wall):.1f} ms; "
        f"CPU p50 {statistics.median(cpu):.1f} ms\n"
    )


@frozen
class Times:
    """The elapsed time and the CPU time of a call in milliseconds. Other processes increase the elapsed time."""

    wall: float
    cpu: float


def timed(call: Callable[[], Coroutine[Any, Any, object]]) -> Times:
    """Run `call` and return its times."""
    wall, cpu = time.perf_counter(), time.process_time()
    run_sync(call())
    return Times(1000 * (time.perf_counter() - wall), 1000 * (time.process_time() - cpu))


def searches(index: ImpactIndex, keywords: str, repeats: int) -> list[Times]:
    """Return the times of `repeats` searches."""
    return [timed(partial(index.search, Query(keywords))) for _ in range(WARM + repeats)][WARM:]


def judged(index: ImpactIndex, queries: Sequence[Judged], repeats: int) -> None:
    """Print the latency of judged queries by kind."""
    times: dict[str, list[Times]] = defaultdict(list)
    for query in queries:
        found = searches(index, query.q, repeats)
        times[query.kind] += found
        times["all"] += found
    print(f"{'kind':<18} {'p50 ms':>7} {'p99 ms':>7} {'CPU p50':>8} {'CPU p99':>8}")
    for kind in sorted(times, key=lambda kind: (kind == "all", kind)):
        wall, cpu = [each.wall for each in times[kind]], [each.cpu for each in times[kind]]
        print(
            f"{kind:<18} {statistics.median(wall):>7.2f} {_p99(wall):>7.2f} "
            f"{statistics.median(cpu):>8.2f} {_p99(cpu):>8.2f}"
        )


def slowest(index: ImpactIndex, entries: Sequence[Entry], repeats: int, shown: int) -> None:
    """Print the latency of the slowest hostile queries."""
    times = {name: searches(index, keywords, repeats) for name, keywords in hostile(entries)}
    cpu = {name: [each.cpu for each in found] for name, found in times.items()}
    print(
        f"\n{f'slowest of {len(times)} hostile queries':<40} {'p50 ms':>7} {'max ms':>7} {'CPU p50':>8} {'CPU max':>8}"
    )
    for name in sorted(cpu, key=lambda name: -statistics.median(cpu[name]))[:shown]:
        wall = [each.wall for each in times[name]]
        print(
            f"{name:<40} {statistics.median(wall):>7.2f} {max(wall):>7.2f} "
            f"{statistics.median(cpu[name]):>8.2f} {max(cpu[name]):>8.2f}"
        )


Factory = Callable[[Sequence[Entry], Path, str], Engine | None]

ENGINES: Mapping[str, Factory] = {
    "this index": lambda entries, folder, _: our_engine(mapped_index(entries, folder), entries),
    "SQLite FTS5, words": lambda entries, *_: full_text(entries, "porter unicode61", any_word),
    "SQLite FTS5, trigrams": lambda entries, *_: full_text(entries, "trigram", any_trigram),
    "tantivy": lambda entries, *_: tantivy_engine(entries),
    "PostgreSQL": lambda entries, _, database: postgres_engine(entries, database) if database else None,
}
"""The engines of the comparison; None for those that are not available."""


def beside(file: Path, queries: Sequence[Path], repeats: int, database: str) -> None:
    """Print the table of all engines."""
    headings = "".join(f" {path.stem:>8}" for path in queries)
    print(f"{'':<24} {'p50 ms':>8} {'p99 ms':>8} {'MB':>6}{headings}")
    with tempfile.TemporaryDirectory() as folder:
        mapped_index(read_entries(file), Path(folder))
        for name in ENGINES:
            # A fresh process: only so is the memory that of one engine.
            with ProcessPoolExecutor(1, get_context("spawn")) as process:
                line = process.submit(_engine_line, name, file, queries, repeats, database, Path(folder)).result()
            print(f"{name:<24} {line}", flush=True)


def _engine_line(name: str, file: Path, queries: Sequence[Path], repeats: int, database: str, folder: Path) -> str:
    """Return the figures of an engine."""
    entries = read_entries(file)
    before = resident()
    engine = ENGINES[name](entries, folder, database)
    if engine is None:
        return "is skipped: it is not available"
    best: list[float] = []
    ndcgs = []
    for path in queries:
        judged = read_judged(path)
        ndcgs.append(mean([ndcg(engine(query.q), query.grades) for query in judged]) or 0.0)
        best += [min(_elapsed(engine, query.q) for _ in range(repeats)) for query in judged]
    memory = resident() - before
    qualities = "".join(f" {value:>8.3f}" for value in ndcgs)
    return f"{statistics.median(best):>8.2f} {_p99(best):>8.2f} {memory:>6.0f}{qualities}"


def _elapsed(engine: Engine, q: str) -> float:
    began = time.perf_counter()
    engine(q)
    return 1000 * (time.perf_counter() - began)


def _p99(values: Sequence[float]) -> float:
    return statistics.quantiles(values, n=100)[98]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--file", type=Path, default=REAL, help="gzipped JSON Lines of entries")
    parser.add_argument("--entries", type=int, metavar="N", help="number of entries, synthetic after the real ones")
    parser.add_argument("--queries", type=Path, nargs="+", default=QUERIES, metavar="FILE", help="judged queries")
    parser.add_argument("--batch", type=int, default=4000, help="changes in one apply")
    parser.add_argument("--repeats", type=int, default=20, help="searches for each query")
    parser.add_argument("--slowest", type=int, default=10, metavar="N", help="hostile queries in the table")
    parser.add_argument("--index", type=Path, metavar="DIR", help="directory of the file of the index")
    parser.add_argument("--beside", action="store_true", help="only the table beside other engines")
    parser.add_argument(
        "--postgres", default="", metavar="CONNINFO", help="connection string of a database for --beside"
    )
    options = parser.parse_args()
    if options.beside:
        beside(options.file, options.queries, options.repeats, options.postgres)
        return

    entries = read_entries(options.file)
    index = ImpactIndex(inline, keep=Spill(options.index)) if options.index else ImpactIndex(inline)
    count = options.entries or len(entries)
    if options.index:
        load(index, options.index, entries, count, options.batch)
    else:
        build(index, analysed(entries), count, options.batch)
    change(index, analysed(entries[:CHANGES]))
    judged(index, [query for path in options.queries for query in read_judged(path)], options.repeats)
    slowest(index, entries, options.repeats, options.slowest)
    print(f"\n{resident():.0f} MB after the searches")


if __name__ == "__main__":
    main()
