"""Measure the index on real entries: how long it takes to build, its memory, how fast and how well it finds.

Run in a fresh process for each batch size, since memory once taken is seldom given back:

    python -m bench.search --batch 500

Quality is nDCG@10 (gain 2^grade - 1, discount log2(rank + 1), ideal from the judged list).
"""

from __future__ import annotations

import argparse
import gc
import gzip
import json
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Coroutine, Sequence
from math import log2
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from directory_server.model import Change, Entry, Query
from directory_server.search import ImpactIndex, TextAnalysis
from directory_server.wire import decode_entry

P = ParamSpec("P")
T = TypeVar("T")

DATA = Path(__file__).parent.parent.parent / "shared" / "data"


async def inline(function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    return function(*args, **kwargs)


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """Return what `coroutine` returns; with an inline Offload it never waits."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        return stop.value  # type: ignore[no-any-return]
    raise RuntimeError("the index waited")


def resident() -> float:
    """Return the resident memory of this process in megabytes (Linux: proc_pid_statm(5), pages of 4 KiB)."""
    gc.collect()
    return float(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 1e6


def ndcg(found: Sequence[str], grades: dict[str, int]) -> float:
    def gain(ranked: Sequence[int]) -> float:
        return sum(((1 << grade) - 1) / log2(rank + 1) for rank, grade in enumerate(ranked[:10], 1))

    return gain([grades.get(name, 0) for name in found]) / gain(sorted(grades.values(), reverse=True))


def build(index: ImpactIndex, entries: Sequence[Entry], batch: int) -> None:
    analysis = TextAnalysis()
    before, began = resident(), time.perf_counter()
    for start in range(0, len(entries), batch):
        changes = (
            Change(seq, "added", e.mcp_id, e, analysis(e))
            for seq, e in enumerate(entries[start : start + batch], start)
        )
        run(index.apply(list(changes)))
    seconds, after = time.perf_counter() - began, resident()
    print(
        f"{len(index):,} entries in batches of {batch:,}: {seconds:.1f} s, {before:.0f} MB before, {after:.0f} MB after"
    )

    times = []
    for entry in entries[:50]:
        began = time.perf_counter()
        run(index.apply([Change(0, "changed", entry.mcp_id, entry, analysis(entry))]))
        times.append(1000 * (time.perf_counter() - began))
    print(f"one change: p50 {statistics.median(times):.1f} ms, slowest of {len(times)} {max(times):.1f} ms\n")


def search(index: ImpactIndex, entries: Sequence[Entry], queries: Sequence[dict[str, Any]], repeats: int) -> None:
    names = {entry.mcp_id: entry.name for entry in entries}
    times: dict[str, list[float]] = defaultdict(list)
    quality: dict[str, list[float]] = defaultdict(list)
    for query in queries:
        for _ in range(repeats):
            began = time.perf_counter()
            page = run(index.search(Query(query["q"])))
            elapsed = 1000 * (time.perf_counter() - began)
            for kind in (query["kind"], "all"):
                times[kind].append(elapsed)
        grades = {judged["name"]: judged["grade"] for judged in query["relevant"]}
        for kind in (query["kind"], "all"):
            quality[kind].append(ndcg([names[hit.mcp_id] for hit in page.hits], grades))
    print(f"{'kind':<18} {'queries':>7} {'p50 ms':>7} {'p99 ms':>7} {'nDCG@10':>8}")
    for kind in sorted(times, key=lambda kind: (kind == "all", kind)):
        p99 = statistics.quantiles(times[kind], n=100)[98]
        middle, good = statistics.median(times[kind]), statistics.mean(quality[kind])
        print(f"{kind:<18} {len(quality[kind]):>7} {middle:>7.2f} {p99:>7.2f} {good:>8.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entries", type=Path, default=DATA / "entries.jsonl.gz", help="gzipped, an entry a line")
    parser.add_argument("--queries", type=Path, default=DATA / "queries.jsonl", help="a judged query a line")
    parser.add_argument("--batch", type=int, default=2000, help="changes in one apply")
    parser.add_argument("--repeats", type=int, default=20, help="times each query is asked")
    options = parser.parse_args()

    with gzip.open(options.entries) as lines:
        entries = [decode_entry(json.loads(line)) for line in lines]
    queries = [json.loads(line) for line in options.queries.read_text().splitlines()]
    index = ImpactIndex(inline)
    build(index, entries, options.batch)
    search(index, entries, queries, options.repeats)


if __name__ == "__main__":
    main()
