"""The stores of SQLite and PostgreSQL do the same: after random operations, and with real entries."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from random import Random

import pytest

from directory_server import serialization
from directory_server.domain.changes import Outcome
from directory_server.domain.entries import Entry, mcp_id_of
from directory_server.domain.ports.storage import Store
from directory_server.domain.publishing import SourceLimits
from directory_server.domain.versions import Version
from directory_server.postgres import Database, PostgresTables, postgres_store
from directory_server.runtime.run_sync import inline, run_sync
from directory_server.sqlite import Database as SqliteDatabase
from directory_server.sqlite import SqliteTables, sqlite_store
from directory_server.tables import StoredCuration

from ..contract.store import Briefs, entry

SOURCES = ["first", "second"]
LIMITS = {"second": SourceLimits(4, 6_000), "third": SourceLimits(100, 3_000)}
NAMES = [f"x/{letter}" for letter in "abcdef"]
VERSIONS = ["1.0.0", "1.1.0", "2.0.0-rc.1", "2.0.0", "latest one", "v3"]
KEPT = "SELECT source, names, bytes FROM stored WHERE names > 0 ORDER BY source"
COUNTED = """
    SELECT source, count(DISTINCT name), sum(octet_length(body)) FROM record GROUP BY source ORDER BY source
"""


def random_entry(random: Random) -> Entry:
    official: dict[str, object] = {}
    if random.random() < 0.4:
        official["isLatest"] = random.random() < 0.7
    if random.random() < 0.3:
        official["status"] = random.choice(["deleted", "active"])
    if random.random() < 0.3:
        official["publishedAt"] = f"2025-0{random.randint(1, 9)}-01T00:00:00Z"
    brief = random.choice(["a", "b", "c"]) * random.choice([1, 20, 400])
    return entry(random.choice(NAMES), random.choice(VERSIONS), brief, **official)


def operate(random: Random, store: Store, curation: StoredCuration) -> object:
    """Run a random operation; return its result."""
    choice = random.random()
    if choice < 0.75:
        source = random.choice(["local", *SOURCES, "third", "fourth"])
        batch = [random_entry(random) for _ in range(random.choice([1, 1, 3, 12]))]
        return list(run_sync(store.publish(source, batch)))
    if choice < 0.9:
        mark = random.choice(["hidden", "pinned", "allowed"])
        return run_sync(curation.mark(random.choice(NAMES), mark, random.random() < 0.6))  # type: ignore[arg-type]
    return run_sync(curation.disown(random.choice(NAMES)))


def without_times(versions: Sequence[Version]) -> list[tuple[object, ...]]:
    return [(each.name, each.version, each.body, each.latest, each.deleted, each.curated) for each in versions]


def content(store: Store, curation: StoredCuration) -> dict[str, object]:
    """Return all that can be read of a store, but times of the machine's clock."""
    return {
        "changes": list(run_sync(store.changes(0, 10_000))),
        "current": list(run_sync(store.current("", 10_000))),
        "count": run_sync(store.count()),
        "newest": list(run_sync(store.newest(4, lambda entry: (entry.name, entry.version)))),
        "curated": list(run_sync(curation.curated())),
        "latest": without_times(run_sync(store.latest([mcp_id_of(name) for name in NAMES]))),
        # Versions without a date are in the order of the clock, which SQLite reads in milliseconds.
        "versions": [sorted(without_times(run_sync(store.versions(name))), key=str) for name in NAMES],
        **{
            f"listing {versions} {deleted}": without_times(
                run_sync(store.listing(("", ""), 1_000, versions=versions, include_deleted=deleted))
            )
            for versions in ("latest", "all", "2.0.0")
            for deleted in (True, False)
        },
    }


@pytest.mark.parametrize("seed", range(2))
def test_random_operations_have_the_same_results(tmp_path: Path, database: Database, seed: int) -> None:
    sqlite = SqliteDatabase(tmp_path, "directory")
    stores: list[tuple[Store, StoredCuration]] = [
        (sqlite_store(sqlite, inline, Briefs(), SOURCES, LIMITS), StoredCuration(SqliteTables(sqlite), SOURCES)),
        (
            postgres_store(database, inline, Briefs(), SOURCES, LIMITS),
            StoredCuration(PostgresTables(database), SOURCES),
        ),
    ]
    for step in range(150):
        expected, result = (operate(Random(f"{seed} {step}"), *each) for each in stores)
        assert result == expected, step
        if step % 10 == 9:
            expected, result = (content(*each) for each in stores)
            assert result == expected
    for tables in (SqliteTables(sqlite), PostgresTables(database)):
        kept, counted = run_sync(tables.select(KEPT)), run_sync(tables.select(COUNTED))
        assert [tuple(row) for row in kept] == [tuple(row) for row in counted]
    sqlite.close()


def pages(store: Store, versions: str) -> list[tuple[object, ...]]:
    """Return all versions of a listing, read in pages."""
    found: list[Version] = []
    after = ("", "")
    while page := run_sync(store.listing(after, 1_000, versions=versions, include_deleted=True)):
        found += page
        after = (page[-1].name, page[-1].version)
    return without_times(found)


def publish(store: Store, entries: Sequence[Entry]) -> list[Outcome]:
    batches = [entries[begin : begin + 500] for begin in range(0, len(entries), 500)]
    return [outcome for batch in batches for outcome in run_sync(store.publish("a", batch))]


def test_a_listing_of_real_entries_is_the_same(tmp_path: Path, database: Database, shared_data: Path) -> None:
    with gzip.open(shared_data / "entries.jsonl.gz") as lines:
        entries = [serialization.decode_entry(serialization.decode(line)) for line in islice(lines, 2_000)]
    sqlite = SqliteDatabase(tmp_path, "directory")
    expected: Store = sqlite_store(sqlite, inline, Briefs())
    store = postgres_store(database, inline, Briefs())
    assert publish(store, entries) == publish(expected, entries)
    for versions in ("latest", "all", "1.0.0"):
        assert pages(store, versions) == pages(expected, versions)
    assert run_sync(store.head()) == run_sync(expected.head())
    sqlite.close()
