"""What a storage holds: keys, entries, the log, the listing; the times of reading and of publishing them."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from random import Random
from statistics import median

from directory_server.domain.entries import Entry
from directory_server.run_sync import run_sync
from directory_server.storage import Storage

from .measured_storages import MeasuredStorage

PAGE = 1_000


def key_ids(storage: Storage) -> Sequence[str]:
    """Return the ids of all keys."""
    return [key.id for key in run_sync(storage.keys.list())]


def entry_ids(storage: Storage, count: int) -> Sequence[str]:
    """Return the ids of the first `count` visible entries."""
    return [change.mcp_id for change in run_sync(storage.store.current("", count))]


def contents(storage: Storage) -> Mapping[str, Sequence[object]]:
    """Return the visible entries, the log of changes, all versions of the listing, and the keys of a storage."""
    store = storage.store
    found: dict[str, list[object]] = {"entries": [], "changes": [], "listing": []}
    last, seq, after = "", 0, ("", "")
    while page := run_sync(store.current(last, PAGE)):
        found["entries"] += page
        last = page[-1].mcp_id
    while page := run_sync(store.changes(seq, PAGE)):
        found["changes"] += page
        seq = page[-1].seq
    while versions := run_sync(store.listing(after, PAGE, versions="all", include_deleted=True)):
        found["listing"] += versions
        after = (versions[-1].name, versions[-1].version)
    return {**found, "keys": list(run_sync(storage.keys.list()))}


def publish_times(storage: Storage, count: int) -> Mapping[str, tuple[float, float]]:
    """Publish `count` entries one by one, with pauses; return the begin and the end of each call.

    Times are in seconds of the monotonic clock.
    """
    random, found = Random(1), {}
    for number in range(count):
        name = f"bench.example/{time.monotonic_ns()}-{number}"
        entry = Entry({"name": name, "version": "1.0.0", "description": "A server that a benchmark publishes."})
        began = time.monotonic()
        run_sync(storage.store.publish("bench", [entry]))
        found[name] = began, time.monotonic()
        time.sleep(random.uniform(0.05, 0.15))
    return found


def read_changes(storage: MeasuredStorage) -> tuple[float, float, float]:
    """Read the whole log; return changes per second, and CPU microseconds of ours and of the database per change."""
    with storage.opened() as opened:
        began, cpu, engine = time.perf_counter(), time.process_time(), storage.engine_cpu()
        count = last = 0
        while page := run_sync(opened.store.changes(last, 4_000)):
            count, last = count + len(page), page[-1].seq
        took = time.perf_counter() - began
        ours, theirs = time.process_time() - cpu, storage.engine_cpu() - engine
    return count / took, 1e6 * ours / count, 1e6 * theirs / count


def list_pages(storage: MeasuredStorage) -> list[float]:
    """Return the milliseconds of a page of each kind of listing, the median of 20 pages."""
    found = []
    with storage.opened() as opened:
        for versions in ("latest", "all", "1.0.0"):
            took, after = [], ("", "")
            for _ in range(20):
                began = time.perf_counter()
                listed = run_sync(opened.store.listing(after, 100, versions=versions))
                took.append(1e3 * (time.perf_counter() - began))
                after = (listed[-1].name, listed[-1].version) if listed else ("", "")
            found.append(median(took))
    return found
