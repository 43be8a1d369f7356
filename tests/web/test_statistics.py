"""Recorder of requests and searches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from twisted.internet.task import Clock

from directory_server.domain.errors import Unavailable
from directory_server.domain.statistics import LEAST, Count, QueryCount, QueryTotal
from directory_server.memory import MemoryStatistics
from directory_server.run_sync import inline, run_sync
from directory_server.web.statistics import FLUSH_INTERVAL, StatisticsRecorder

from ..logs import captured_lines
from .conftest import Server

DAY = 20_000


class FailingStatistics(MemoryStatistics):
    """Statistics whose file cannot be used while `fails` is set."""

    fails = False

    async def add(self, counts: Sequence[Count], queries: Sequence[QueryCount] = ()) -> None:
        if FailingStatistics.fails:
            raise Unavailable("the disk is full")
        await super().add(counts, queries)


@pytest.fixture
def clock() -> Clock:
    clock = Clock()
    clock.advance(DAY * 86_400.0)
    return clock


def recorder_of(clock: Clock, statistics: Any, days: int = 90, query_days: int = 7) -> StatisticsRecorder:
    return StatisticsRecorder(statistics, inline, clock, clock.seconds, days, query_days)


def totals(statistics: MemoryStatistics) -> dict[str, tuple[int, int]]:
    return {each.name: (each.total, each.failed) for each in run_sync(statistics.counts(0, 99_999))}


def test_writes_numbers_on_a_timer_and_at_the_stop(clock: Clock) -> None:
    statistics = MemoryStatistics()
    recorder = recorder_of(clock, statistics)
    recorder.startService()
    recorder.searched("REST", "mail", True)
    recorder.searched("REST", "mail", False)
    assert totals(statistics) == {}
    clock.advance(FLUSH_INTERVAL)
    assert totals(statistics) == {"REST": (2, 1)}
    recorder.searched("MCP", "mail", True)
    recorder.stopService()
    assert totals(statistics) == {"REST": (2, 1), "MCP": (1, 0)}


def test_stores_only_frequent_texts(clock: Clock) -> None:
    statistics = MemoryStatistics()
    recorder = recorder_of(clock, statistics)
    recorder.startService()
    for _ in range(LEAST - 1):
        recorder.searched("REST", "Mail", True)
        recorder.searched("REST", "my diagnosis", False)
        recorder.searched("REST", "ann@example.org", False)
    clock.advance(FLUSH_INTERVAL)
    assert list(run_sync(statistics.queries(0, limit=9))) == []
    recorder.searched("pages", " mail ", False)
    recorder.searched("REST", "ann@example.org", False)
    clock.advance(FLUSH_INTERVAL)
    assert list(run_sync(statistics.queries(0, limit=9))) == [QueryTotal("mail", 5, 1)]
    recorder.searched("REST", "mail", True)
    clock.advance(FLUSH_INTERVAL)
    assert list(run_sync(statistics.queries(0, limit=9))) == [QueryTotal("mail", 6, 1)]
    # Another day begins anew.
    clock.advance(86_400)
    recorder.searched("REST", "my diagnosis", False)
    clock.advance(FLUSH_INTERVAL)
    assert len(run_sync(statistics.queries(0, limit=9))) == 1
    recorder.stopService()


def test_texts_are_off_by_default_and_deleted_when_turned_off(clock: Clock) -> None:
    statistics = MemoryStatistics()
    run_sync(statistics.add([Count(DAY - 90, "requests", "/", 1, 0)], [QueryCount(DAY, "mail", 5, 0)]))
    recorder = recorder_of(clock, statistics, query_days=0)
    recorder.startService()
    for _ in range(2 * LEAST):
        recorder.searched("REST", "github", True)
    clock.advance(FLUSH_INTERVAL)
    assert list(run_sync(statistics.queries(0, limit=9))) == []
    assert totals(statistics) == {"REST": (2 * LEAST, 0)}
    recorder.stopService()


def test_stores_nothing_if_turned_off(clock: Clock) -> None:
    statistics = MemoryStatistics()
    recorder = recorder_of(clock, statistics, days=0, query_days=0)
    recorder.searched("REST", "mail", True)
    recorder.flush()
    assert totals(statistics) == {}


def test_numbers_survive_a_fault_of_the_storage(clock: Clock) -> None:
    statistics = FailingStatistics()
    recorder = recorder_of(clock, statistics)
    recorder.startService()
    with captured_lines() as lines:
        FailingStatistics.fails = True
        for _ in range(2):
            recorder.searched("REST", "mail", True)
            clock.advance(FLUSH_INTERVAL)
        FailingStatistics.fails = False
        clock.advance(FLUSH_INTERVAL)
    assert totals(statistics) == {"REST": (2, 0)}
    assert sum("Statistics cannot be written: the disk is full" in line for line in lines) == 1
    recorder.stopService()


def test_a_flood_of_texts_is_bounded(clock: Clock) -> None:
    from directory_server.web.statistics import MAX_CANDIDATES, MAX_PENDING

    recorder = recorder_of(clock, MemoryStatistics())
    for number in range(MAX_PENDING + 5):
        recorder.searched("REST", f"text {number}", True)
    assert len(recorder._pending) == MAX_PENDING
    recorder.flush()
    assert len(recorder._candidates) == MAX_CANDIDATES


def test_counts_requests_and_searches_of_every_api(server: Server) -> None:
    server.get("/api/open/v1/search?keywords=postgres")
    server.get("/api/open/v1/search?keywords=postgres&fields=mcp_id")
    server.get("/api/open/v1/search?keywords=qqqqzzzz")
    server.get("/api/open/v1/search?keywords=postgres", key="mcpd_wrong")
    server.call("search_mcp", {"keywords": "postgres"})
    server.get("/?q=postgres", key=None)
    server.get("/v0.1/servers?search=postgres", key=None)
    server.statistics.flush()
    found = {
        (each.kind, each.name): (each.total, each.failed)
        for each in run_sync(server.statistics._statistics.counts(0, 99_999))
    }
    assert found["requests", "/api/open/v1/search"] == (4, 1)
    assert found["searches", "REST"] == (3, 1)
    assert found["searches", "MCP"] == (1, 0)
    assert found["searches", "pages"] == (1, 0)
    assert found["searches", "registry"] == (1, 0)
    assert (server.folder / "statistics.db").exists()
