"""Measure the index: how long it takes to build, its memory, how fast it finds what is asked and what is meant to hurt.

    python -m bench.search                        the real entries
    python -m bench.search --entries 1000000      as many, most of them copies under other names

Run in a fresh process for each, since memory once taken is seldom given back. How well it finds: bench.relevance.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from directory_server.domain.changes import Change
from directory_server.domain.entries import Entry
from directory_server.domain.search import Query
from directory_server.run_sync import inline, run_sync
from directory_server.search import ImpactIndex, TextAnalysis
from directory_server.serialization import encode_entry

from ._copies import copies
from ._hostile import hostile
from ._judged import DATA, Judged, read_entries, read_judged

PAGE = 4096
"""Bytes of a page of memory."""

FIRST = 3
"""Answers of each query that are not measured: caches fill, and the allocator finds its sizes."""


def resident() -> float:
    """Return the resident memory of this process in megabytes (Linux: proc_pid_statm(5))."""
    gc.collect()
    return float(Path("/proc/self/statm").read_text().split()[1]) * PAGE / 1e6


def analysed(entries: Sequence[Entry]) -> list[Change]:
    analysis, began = TextAnalysis(), time.perf_counter()
    changes = [Change(seq, "added", e.mcp_id, encode_entry(e), analysis(e)) for seq, e in enumerate(entries, 1)]
    print(f"{len(changes):,} entries analysed in {time.perf_counter() - began:.1f} s")
    return changes


def build(index: ImpactIndex, changes: Sequence[Change], number: int, batch: int) -> None:
    before, began = resident(), time.perf_counter()
    waiting: list[Change] = []
    for change in copies(changes, number):
        waiting.append(change)
        if len(waiting) == batch:
            run_sync(index.apply(waiting))
            waiting = []
    run_sync(index.apply(waiting))
    del waiting
    seconds, after = time.perf_counter() - began, resident()
    print(
        f"{len(index):,} entries in batches of {batch:,}: {seconds:.1f} s, {before:.0f} MB before, {after:.0f} MB after"
    )
    times = []
    for change in changes[:20]:
        began = time.perf_counter()
        run_sync(index.apply([change]))
        times.append(1000 * (time.perf_counter() - began))
    print(f"one change: p50 {statistics.median(times):.1f} ms, slowest of {len(times)} {max(times):.1f} ms\n")


def timed(index: ImpactIndex, keywords: str, repeats: int) -> list[float]:
    """Return how long each answer took, in milliseconds."""
    times = []
    for _ in range(FIRST + repeats):
        began = time.perf_counter()
        run_sync(index.search(Query(keywords)))
        times.append(1000 * (time.perf_counter() - began))
    return times[FIRST:]


def judged(index: ImpactIndex, queries: Sequence[Judged], repeats: int) -> None:
    times: dict[str, list[float]] = defaultdict(list)
    for query in queries:
        elapsed = timed(index, query.q, repeats)
        times[query.kind] += elapsed
        times["all"] += elapsed
    print(f"{'kind':<18} {'p50 ms':>7} {'p99 ms':>7}")
    for kind in sorted(times, key=lambda kind: (kind == "all", kind)):
        p99 = statistics.quantiles(times[kind], n=100)[98]
        print(f"{kind:<18} {statistics.median(times[kind]):>7.2f} {p99:>7.2f}")


def attacked(index: ImpactIndex, entries: Sequence[Entry], repeats: int, shown: int) -> None:
    times = {name: timed(index, keywords, repeats) for name, keywords in hostile(entries)}
    print(f"\n{f'the slowest of {len(times)} hostile queries':<40} {'p50 ms':>7} {'max ms':>7}")
    for name in sorted(times, key=lambda name: -max(times[name]))[:shown]:
        print(f"{name:<40} {statistics.median(times[name]):>7.2f} {max(times[name]):>7.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--file", type=Path, default=DATA / "entries.jsonl.gz", help="gzipped, an entry a line")
    parser.add_argument("--entries", type=int, metavar="N", help="how many; of more than there are, copies")
    queries = [DATA / "queries.jsonl", DATA / "needs.jsonl"]
    parser.add_argument("--queries", type=Path, nargs="+", default=queries, metavar="FILE", help="judged queries")
    parser.add_argument("--batch", type=int, default=4000, help="changes in one apply")
    parser.add_argument("--repeats", type=int, default=20, help="times each query is asked")
    parser.add_argument("--slowest", type=int, default=10, metavar="N", help="hostile queries that are shown")
    options = parser.parse_args()

    entries = read_entries(options.file)
    index = ImpactIndex(inline)
    build(index, analysed(entries), options.entries or len(entries), options.batch)
    judged(index, [query for path in options.queries for query in read_judged(path)], options.repeats)
    attacked(index, entries, options.repeats, options.slowest)


if __name__ == "__main__":
    main()
