"""SQLite adapter of Store."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from directory_server.domain.entries import Entry
from directory_server.domain.errors import Unavailable
from directory_server.runtime.run_sync import inline, run_sync
from directory_server.sqlite import sqlite_store

from ..conftest import Open
from ..contract.store import Briefs, entry


def test_offloads_long_operations_only(open_database: Open) -> None:
    offloaded = []

    async def offload(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        offloaded.append(function)
        return function(*args, **kwargs)

    store = sqlite_store(open_database("directory"), offload, Briefs())
    run_sync(store.publish("a", [entry()]))
    assert offloaded
    offloaded.clear()
    run_sync(store.current("", 1))
    run_sync(store.changes(0, 1))
    run_sync(store.newest(1, Entry.hit))
    assert len(offloaded) == 3
    run_sync(store.entry(entry().mcp_id))
    run_sync(store.head())
    run_sync(store.oldest())
    run_sync(store.count())
    assert len(offloaded) == 3


def test_publishing_unchanged_entries_writes_nothing(open_database: Open) -> None:
    store = sqlite_store(open_database("directory"), inline, Briefs())
    run_sync(store.publish("a", [entry()]))
    with open_database("directory").connection() as other:
        before = other.execute("PRAGMA data_version").fetchone()
        run_sync(store.publish("a", [entry()]))
        assert other.execute("PRAGMA data_version").fetchone() == before


def test_a_batch_that_fills_the_disk_is_rolled_back(open_database: Open) -> None:
    database = open_database("directory")
    store = sqlite_store(database, inline, Briefs())
    run_sync(store.publish("a", [entry("x/before")]))
    with database.connection() as connection:
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {pages + 4}")
    batch = [entry(f"x/{number}", brief="It rains. " * 100) for number in range(100)]
    with pytest.raises(Unavailable, match=r"directory\.db cannot be used now: the disk is full"):
        run_sync(store.publish("a", batch))
    for each in (store, sqlite_store(open_database("directory"), inline, Briefs())):
        assert run_sync(each.count()) == run_sync(each.head()) == 1
        assert run_sync(each.entry(batch[0].mcp_id)) is None
    with database.connection() as connection:
        connection.execute("PRAGMA max_page_count = 1000000")
    assert run_sync(store.publish("a", batch)) == ["added"] * 100


def test_a_changed_order_of_sources_applies_to_the_next_publish(open_database: Open) -> None:
    one = sqlite_store(open_database("directory"), inline, Briefs(), ["b"])
    run_sync(one.publish("a", [entry(brief="a")]))
    run_sync(one.publish("b", [entry(brief="b")]))
    other = sqlite_store(open_database("directory"), inline, Briefs(), ["a"])
    run_sync(other.publish("b", [entry(version="0.1.0")]))
    assert run_sync(other.entry(entry().mcp_id)) == entry(brief="a")
