"""Publishing: short transactions, one resolution per name and batch, limits per source."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import pytest
from attrs import evolve

from directory_server.domain.entries import Entry
from directory_server.domain.errors import Unavailable
from directory_server.domain.publishing import SourceLimits
from directory_server.runtime.run_sync import inline, run_sync
from directory_server.sqlite import Database, sqlite_store
from directory_server.sqlite._store import ENGINE, PAUSE, TRANSACTIONS

from ..conftest import Open
from ..contract.store import Briefs, entry


class TickingClock:
    """A clock that advances by a tenth of a second whenever it is read."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 0.1
        return self.now


def stored_totals(database: Database, source: str) -> tuple[int, int]:
    """Return the stored number of names and bytes of a source."""
    with database.connection() as connection:
        return connection.execute("SELECT names, bytes FROM stored WHERE source = ?", (source,)).fetchone() or (0, 0)


def computed_totals(database: Database, source: str) -> tuple[int, int]:
    """Return the number of names and bytes of a source, computed from its records."""
    with database.connection() as connection:
        found: tuple[int, int] = connection.execute(
            "SELECT count(DISTINCT name), coalesce(sum(length(body)), 0) FROM record WHERE source = ?", (source,)
        ).fetchone()
        return found


ONE = evolve(ENGINE, batch=1)
"""An engine with a transaction for each name."""


@pytest.mark.parametrize(
    "batch",
    [
        [entry(f"x/{number}") for number in range(50)],
        [entry(f"x/{number % 40}", version=f"1.{number}.0") for number in range(50)],
    ],
    ids=["names", "versions"],
)
def test_other_processes_can_write_during_a_batch(open_database: Open, batch: Sequence[Entry]) -> None:
    database, writes = open_database("directory"), []
    other = sqlite3.connect(database.path, timeout=0, isolation_level=None)
    clock = TickingClock()

    def pause(seconds: float) -> None:
        other.execute("BEGIN IMMEDIATE")
        other.execute("ROLLBACK")
        writes.append((clock.now, seconds))

    store = evolve(sqlite_store(database, inline, Briefs(), clock=clock, pause=pause), engine=ONE)
    assert run_sync(store.publish("a", batch)) == ["added"] * 50
    assert len(writes) >= 6
    assert {seconds for _, seconds in writes} == {PAUSE}
    # The clock advances twice in a transaction: when it begins and when it ends.
    times = [0.0, *(time for time, _ in writes)]
    assert all(later - before <= 2 * TRANSACTIONS + 0.3 for before, later in pairwise(times))
    assert run_sync(store.count()) == len({each.name for each in batch})
    assert run_sync(store.publish("a", batch)) == ["unchanged"] * 50
    other.close()


def test_transactions_are_small(open_database: Open) -> None:
    sizes: list[int] = []

    async def offload(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        before = database.connection()
        with before as connection:
            (first,) = connection.execute("SELECT count(*) FROM record").fetchone()
        result = function(*args, **kwargs)
        with before as connection:
            (last,) = connection.execute("SELECT count(*) FROM record").fetchone()
        sizes.append(last - first)
        return result

    database = open_database("directory")
    store = sqlite_store(database, offload, Briefs())
    assert run_sync(store.publish("a", [entry(f"x/{number}") for number in range(120)])) == ["added"] * 120
    assert [size for size in sizes if size] == [ENGINE.batch, ENGINE.batch, 20]


def test_a_failed_batch_keeps_its_commits_and_can_be_repeated(open_database: Open) -> None:
    database = open_database("directory")
    batch = [entry(f"x/{number}") for number in range(50)]

    def pause(seconds: float) -> None:
        with database.connection() as connection:
            connection.execute("PRAGMA query_only = ON")

    store = evolve(sqlite_store(database, inline, Briefs(), clock=TickingClock(), pause=pause), engine=ONE)
    with pytest.raises(Unavailable):
        run_sync(store.publish("a", batch))
    with database.connection() as connection:
        connection.execute("PRAGMA query_only = OFF")
    store = sqlite_store(database, inline, Briefs())
    count = run_sync(store.count())
    assert 0 < count < 50
    assert run_sync(store.head()) == count
    assert run_sync(store.publish("a", batch)) == ["unchanged"] * count + ["added"] * (50 - count)


def test_names_of_a_source_are_limited(open_database: Open) -> None:
    database = open_database("directory")
    store = sqlite_store(database, inline, Briefs(), limits={"a": SourceLimits(3, 10_000)})
    outcomes = run_sync(store.publish("a", [entry(f"x/{number}") for number in range(5)]))
    assert outcomes == ["added"] * 3 + ["over_limit"] * 2
    # Stored names can still be updated, and deleted names count.
    again = [entry("x/0", "2.0.0"), entry("x/1", status="deleted"), entry("x/2", brief="It snows."), entry("x/3")]
    assert run_sync(store.publish("a", again)) == ["added", "changed", "changed", "over_limit"]
    assert stored_totals(database, "a") == computed_totals(database, "a")
    assert run_sync(store.publish("b", [entry(f"x/{number}") for number in range(5)])) == ["added"] * 5


def test_bytes_of_a_source_are_limited(open_database: Open) -> None:
    database = open_database("directory")
    store = sqlite_store(database, inline, Briefs(), limits={"a": SourceLimits(100, 2_000)})
    assert run_sync(store.publish("a", [entry("x/a", brief="a" * 1_500)])) == ["added"]
    outcomes = run_sync(
        store.publish("a", [entry("x/b", brief="b" * 1_500), entry("x/c"), entry("x/a", brief="c" * 1_999)])
    )
    assert outcomes == ["over_limit", "added", "over_limit"]
    # A deletion is stored even if it needs more bytes than the entry.
    assert run_sync(store.publish("a", [entry("x/a", brief="a" * 1_990, status="deleted")])) == ["changed"]
    assert stored_totals(database, "a") == computed_totals(database, "a")
    assert run_sync(store.publish("a", [entry("x/a", brief="")])) == ["changed"]
    assert run_sync(store.publish("a", [entry("x/b", brief="b" * 1_500)])) == ["added"]
