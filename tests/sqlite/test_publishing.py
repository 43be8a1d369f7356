"""A batch is written in short transactions, each name resolved once, within the limits of its source."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from importlib.resources import files
from itertools import pairwise
from typing import Any

import pytest
from twisted.logger import LogEvent, globalLogPublisher

from directory_server.domain.entries import Entry
from directory_server.domain.errors import Unavailable
from directory_server.domain.visibility import transition
from directory_server.run_sync import inline, run_sync
from directory_server.sqlite import Database, SourceLimits, SqliteCuration, SqliteStore, _visibility
from directory_server.sqlite._publishing import MAX_VERSIONS, PAUSE, TRANSACTION

from ..contract.store import NAME, Briefs, entry
from .conftest import Open


class Ticking:
    """A clock that has gone on by a tenth of a second whenever it is read."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 0.1
        return self.now


def stored(database: Database, source: str) -> tuple[int, int]:
    with database.connection() as connection:
        return connection.execute("SELECT names, bytes FROM stored WHERE source = ?", (source,)).fetchone() or (0, 0)


def counted(database: Database, source: str) -> tuple[int, int]:
    """Return the same, by counting."""
    with database.connection() as connection:
        found: tuple[int, int] = connection.execute(
            "SELECT count(DISTINCT name), coalesce(sum(length(body)), 0) FROM record WHERE source = ?", (source,)
        ).fetchone()
        return found


@pytest.mark.parametrize(
    "batch",
    [
        [entry(f"x/{number}") for number in range(50)],
        [entry(version=f"1.{number}.0") for number in range(50)],
        [entry(f"x/{number % 5}", version=f"1.{number}.0") for number in range(50)],
    ],
    ids=["names", "versions", "both"],
)
def test_other_writers_get_their_turn_in_the_midst_of_a_batch(open_database: Open, batch: Sequence[Entry]) -> None:
    database, turns = open_database("directory"), []
    other = sqlite3.connect(database.path, timeout=0, isolation_level=None)
    clock = Ticking()

    def pause(seconds: float) -> None:
        other.execute("BEGIN IMMEDIATE")
        other.execute("ROLLBACK")
        turns.append((clock.now, seconds))

    store = SqliteStore(database, inline, Briefs(), clock=clock, pause=pause)
    assert run_sync(store.publish("a", batch)) == ["added"] * 50
    assert len(turns) >= 7
    assert {seconds for _, seconds in turns} == {PAUSE}
    moments = [0.0, *(moment for moment, _ in turns)]
    assert all(later - before <= TRANSACTION + 0.3 for before, later in pairwise(moments))
    assert run_sync(store.count()) == len({each.name for each in batch})
    assert run_sync(store.publish("a", batch)) == ["unchanged"] * 50
    other.close()


def test_what_was_committed_before_a_failure_stays_and_the_rest_is_completed(open_database: Open) -> None:
    database = open_database("directory")
    batch = [entry(f"x/{number}") for number in range(50)]

    def pause(seconds: float) -> None:
        with database.connection() as connection:
            connection.execute("PRAGMA query_only = ON")

    with pytest.raises(Unavailable):
        run_sync(SqliteStore(database, inline, Briefs(), clock=Ticking(), pause=pause).publish("a", batch))
    with database.connection() as connection:
        connection.execute("PRAGMA query_only = OFF")
    store = SqliteStore(database, inline, Briefs())
    count = run_sync(store.count())
    assert 0 < count < 50
    assert run_sync(store.head()) == count
    assert run_sync(store.publish("a", batch)) == ["unchanged"] * count + ["added"] * (50 - count)


def test_a_name_is_resolved_once_in_a_batch(open_database: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    ranked: list[int] = []

    def counting(before: Any, flags: Any, records: Any, sources: Any) -> Any:
        ranked.append(len(records))
        return transition(before, flags, records, sources)

    monkeypatch.setattr(_visibility, "transition", counting)
    store = SqliteStore(open_database("directory"), inline, Briefs())
    run_sync(store.publish("a", [entry(version=f"1.{number}.0") for number in range(3_000)]))
    assert ranked == [MAX_VERSIONS]


def test_logs_versions_that_were_not_stored(open_database: Open) -> None:
    events: list[LogEvent] = []
    observe: Any = events.append
    globalLogPublisher.addObserver(observe)
    store = SqliteStore(open_database("directory"), inline, Briefs())
    run_sync(store.publish("a", [entry(version=f"1.{number}.0") for number in range(MAX_VERSIONS + 3)]))
    globalLogPublisher.removeObserver(observe)
    (said,) = [event["log_format"].format(**event) for event in events if "versions" in event.get("log_format", "")]
    assert said == (f"Source a: 3 versions were not stored, {NAME} 1.0.0 first; the limit is {MAX_VERSIONS} of a name")


def test_a_source_stores_no_more_names_than_it_may(open_database: Open) -> None:
    database = open_database("directory")
    store = SqliteStore(database, inline, Briefs(), limits={"a": SourceLimits(3, 10_000)})
    outcomes = run_sync(store.publish("a", [entry(f"x/{number}") for number in range(5)]))
    assert outcomes == ["added"] * 3 + ["over_limit"] * 2
    # What is there goes on as before, and deleted names count.
    again = [entry("x/0", "2.0.0"), entry("x/1", status="deleted"), entry("x/2", brief="It snows."), entry("x/3")]
    assert run_sync(store.publish("a", again)) == ["added", "changed", "changed", "over_limit"]
    assert stored(database, "a") == counted(database, "a")
    assert run_sync(store.publish("b", [entry(f"x/{number}") for number in range(5)])) == ["added"] * 5


def test_a_source_stores_no_more_bytes_than_it_may(open_database: Open) -> None:
    database = open_database("directory")
    store = SqliteStore(database, inline, Briefs(), limits={"a": SourceLimits(100, 2_000)})
    assert run_sync(store.publish("a", [entry("x/a", brief="a" * 1_500)])) == ["added"]
    outcomes = run_sync(
        store.publish("a", [entry("x/b", brief="b" * 1_500), entry("x/c"), entry("x/a", brief="c" * 1_999)])
    )
    assert outcomes == ["over_limit", "added", "over_limit"]
    # A deletion is kept even where it takes a few bytes more.
    assert run_sync(store.publish("a", [entry("x/a", brief="a" * 1_990, status="deleted")])) == ["changed"]
    assert stored(database, "a") == counted(database, "a")
    assert run_sync(store.publish("a", [entry("x/a", brief="")])) == ["changed"]
    assert run_sync(store.publish("a", [entry("x/b", brief="b" * 1_500)])) == ["added"]


def test_what_a_source_stores_is_counted_whatever_happens_to_it(open_database: Open) -> None:
    database = open_database("directory")
    store = SqliteStore(database, inline, Briefs())
    for number in range(MAX_VERSIONS + 20):
        run_sync(store.publish("a", [entry(version=f"1.{number}.0", brief="It rains. " * (number % 7))]))
    run_sync(store.publish("a", [entry("x/b"), entry("x/b", "2"), entry("x/b", brief="It snows."), entry("x/c")]))
    run_sync(store.publish("local", [entry("x/b"), entry("x/c", "2")]))
    run_sync(SqliteCuration(database).disown("x/b"))
    assert stored(database, "a") == counted(database, "a")
    assert stored(database, "local") == counted(database, "local")
    assert stored(database, "a")[0] == 3
    assert stored(database, "local")[0] == 1


def test_what_sources_stored_before_is_counted(open_database: Open) -> None:
    database = open_database("directory")
    store = SqliteStore(database, inline, Briefs())
    run_sync(store.publish("a", [entry(), entry(version="2"), entry("x/b")]))
    with database.connection() as connection:
        for name in ("record_stored", "record_rewritten", "record_removed"):
            connection.execute(f"DROP TRIGGER {name}")
        connection.execute("DROP TABLE stored")
        folder = files("directory_server.sqlite").joinpath("schema", "directory")
        (step,) = (each for each in folder.iterdir() if each.name.endswith("_stored.sql"))
        connection.executescript(step.read_text("utf-8"))
    assert stored(database, "a") == counted(database, "a")
    assert stored(database, "a")[0] == 2
    assert stored(database, "b") == (0, 0)


def test_a_record_that_is_written_again_gets_a_new_id(open_database: Open) -> None:
    database = open_database("directory")
    store = SqliteStore(database, inline, Briefs())
    ids = []
    for number in range(3):
        run_sync(store.publish("a", [entry(brief=str(number))]))
        with database.connection() as connection:
            ids += connection.execute("SELECT id FROM record").fetchall()
    assert len(set(ids)) == 3
    assert ids == sorted(ids)
