"""Measure the index: build time, memory, cost of a change, and latency of judged and of hostile queries.

    python -m bench.search                        the real entries
    python -m bench.search --entries 1000000      a million, most of them synthetic

The tables have elapsed times and CPU times in milliseconds; compare CPU times on a machine with other load. Use a fresh
process for each run, because freed memory is rarely returned to the system. `bench.relevance` measures the quality of
the results.
"""

from __future__ import annotations

import argparse
import gc
import os
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from attrs import frozen

from directory_server.domain.changes import Change
from directory_server.domain.entries import Entry
from directory_server.domain.search import Query
from directory_server.runtime.run_sync import inline, run_sync
from directory_server.search import ImpactIndex, TextAnalysis
from directory_server.serialization import encode_entry

from .catalogue.files import QUERIES, REAL, Judged, read_entries, read_judged
from .catalogue.queries import hostile
from .catalogue.synthetic import synthetic_changes
from .measurement.process_stats import memory

CHANGES = 20
"""Single changes that are measured."""

BATCH, SLOWEST = 4_000, 10
"""Changes in one apply while the index is built, and hostile queries in the table."""

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
    wall, cpu = [time_.wall for time_ in times], [time_.cpu for time_ in times]
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


def _p99(values: Sequence[float]) -> float:
    return statistics.quantiles(values, n=100)[98]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--file", type=Path, default=REAL, help="gzipped JSON Lines of entries")
    parser.add_argument("--entries", type=int, metavar="N", help="number of entries, synthetic after the real ones")
    parser.add_argument("--queries", type=Path, nargs="+", default=QUERIES, metavar="FILE", help="judged queries")
    parser.add_argument("--repeats", type=int, default=20, help="searches for each query")
    options = parser.parse_args()
    entries = read_entries(options.file)
    index = ImpactIndex(inline)
    build(index, analysed(entries), options.entries or len(entries), BATCH)
    change(index, analysed(entries[:CHANGES]))
    judged(index, [query for path in options.queries for query in read_judged(path)], options.repeats)
    slowest(index, entries, options.repeats, SLOWEST)
    print(f"\n{resident():.0f} MB after the searches")


if __name__ == "__main__":
    main()
