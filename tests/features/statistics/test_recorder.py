"""Recorder of requests and searches, and which texts of searches are counted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen
from twisted.internet.task import Clock

from directory_server.domain.errors import Unavailable
from directory_server.features.statistics import recorder as recorder_module
from directory_server.features.statistics.recorder import DIGEST_SIZE, FLUSH_INTERVAL, StatisticsRecorder
from directory_server.features.statistics.rules import LEAST, Count, QueryCount, Total, countable, day_of
from directory_server.features.statistics.settings import StatisticsConfig
from directory_server.features.statistics.tables import Statistics
from directory_server.runtime.run_sync import inline, run_sync
from directory_server.sqlite import SeparateTables

from ...logs import captured_lines
from ...web.conftest import POSTGRES_ID, Server

DAY = 20_000


class FailingStatistics(Statistics):
    """Statistics whose file cannot be used while `fails` is set."""

    fails = False

    async def add(self, counts: Sequence[Count], queries: Sequence[QueryCount] = ()) -> None:
        if FailingStatistics.fails:
            raise Unavailable("the disk is full")
        await super().add(counts, queries)


@pytest.fixture
def statistics(tmp_path: Path) -> Iterator[FailingStatistics]:
    tables = SeparateTables(tmp_path, "statistics")
    yield FailingStatistics(tables)
    tables.close()


@pytest.fixture
def clock() -> Clock:
    clock = Clock()
    clock.advance(DAY * 86_400.0)
    return clock


def recorder_of(clock: Clock, statistics: Any, days: int = 90, query_days: int = 7) -> StatisticsRecorder:
    return StatisticsRecorder(statistics, inline, clock, clock.seconds, StatisticsConfig(days, query_days))


def totals(statistics: Statistics) -> dict[str, tuple[int, int]]:
    return {each.name: (each.total, each.failed) for each in run_sync(statistics.counts(0, 99_999))}


def test_writes_numbers_on_a_timer_and_at_the_stop(clock: Clock, statistics: FailingStatistics) -> None:
    recorder = recorder_of(clock, statistics)
    recorder.startService()
    recorder.searched("REST", "client", "mail", True)
    recorder.searched("REST", "client", "mail", False)
    assert totals(statistics) == {}
    clock.advance(FLUSH_INTERVAL)
    assert totals(statistics) == {"REST": (2, 1)}
    recorder.searched("MCP", "client", "mail", True)
    recorder.stopService()
    assert totals(statistics) == {"REST": (2, 1), "MCP": (1, 0)}


def test_an_operator_sets_of_how_many_clients_a_text_is_stored(clock: Clock, statistics: FailingStatistics) -> None:
    recorder = StatisticsRecorder(statistics, inline, clock, clock.seconds, StatisticsConfig(90, 7, 2))
    recorder.startService()
    for text, client in (("mail", "a"), ("mail", "b"), ("news", "a"), ("news", "a")):
        recorder.searched("REST", client, text, True)
    clock.advance(FLUSH_INTERVAL)
    assert list(run_sync(statistics.queries(0, limit=9))) == [Total("mail", 2, 0)]


def test_stores_only_texts_of_several_clients(clock: Clock, statistics: FailingStatistics) -> None:
    recorder = recorder_of(clock, statistics)
    recorder.startService()
    for number in range(LEAST - 1):
        recorder.searched("REST", f"client {number}", "Mail", True)
        recorder.searched("REST", f"client {number}", "my diagnosis", False)
        recorder.searched("REST", f"client {number}", "ann@example.org", False)
    for _ in range(LEAST):
        recorder.searched("REST", "client 1", "my diagnosis", False)
        recorder.searched("REST", "", "my name", False)
    clock.advance(FLUSH_INTERVAL)
    assert list(run_sync(statistics.queries(0, limit=9))) == []
    recorder.searched("pages", "client 9", " mail ", False)
    recorder.searched("REST", "client 9", "ann@example.org", False)
    clock.advance(FLUSH_INTERVAL)
    assert list(run_sync(statistics.queries(0, limit=9))) == [Total("mail", 5, 1)]
    recorder.searched("REST", "client 1", "mail", True)
    clock.advance(FLUSH_INTERVAL)
    assert list(run_sync(statistics.queries(0, limit=9))) == [Total("mail", 6, 1)]
    # Another day begins anew.
    clock.advance(86_400)
    recorder.searched("REST", "client 9", "my diagnosis", False)
    clock.advance(FLUSH_INTERVAL)
    assert len(run_sync(statistics.queries(0, limit=9))) == 1
    recorder.stopService()


def test_digests_of_clients_are_few_and_differ_between_texts_and_processes(
    clock: Clock, statistics: FailingStatistics
) -> None:
    recorders = [recorder_of(clock, statistics) for _ in range(2)]
    for recorder in recorders:
        for number in range(3 * LEAST):
            recorder.searched("REST", f"192.0.2.{number}", "mail", True)
            recorder.searched("REST", f"192.0.2.{number}", "post", True)
        recorder.flush()
    digests = [candidate.clients for recorder in recorders for candidate in recorder._candidates.values()]
    assert {len(each) for each in digests} == {LEAST * DIGEST_SIZE}
    parts = {each[begin : begin + DIGEST_SIZE] for each in digests for begin in range(0, len(each), DIGEST_SIZE)}
    assert len(parts) == 4 * LEAST


def test_texts_are_off_by_default_and_deleted_when_turned_off(clock: Clock, statistics: FailingStatistics) -> None:
    run_sync(statistics.add([Count(DAY - 90, "requests", "/", 1, 0)], [QueryCount(DAY, "mail", 5, 0)]))
    recorder = recorder_of(clock, statistics, query_days=0)
    recorder.startService()
    for _ in range(2 * LEAST):
        recorder.searched("REST", "client", "github", True)
    clock.advance(FLUSH_INTERVAL)
    assert list(run_sync(statistics.queries(0, limit=9))) == []
    assert totals(statistics) == {"REST": (2 * LEAST, 0)}
    recorder.stopService()


def test_stores_nothing_if_turned_off(clock: Clock, statistics: FailingStatistics) -> None:
    recorder = recorder_of(clock, statistics, days=0, query_days=0)
    recorder.searched("REST", "client", "mail", True)
    recorder.flush()
    assert totals(statistics) == {}


def test_numbers_survive_a_fault_of_the_storage(clock: Clock, statistics: FailingStatistics) -> None:
    recorder = recorder_of(clock, statistics)
    recorder.startService()
    with captured_lines() as lines:
        FailingStatistics.fails = True
        for _ in range(2):
            recorder.searched("REST", "client", "mail", True)
            clock.advance(FLUSH_INTERVAL)
        FailingStatistics.fails = False
        clock.advance(FLUSH_INTERVAL)
    assert totals(statistics) == {"REST": (2, 0)}
    assert sum("Statistics cannot be written: the disk is full" in line for line in lines) == 1
    recorder.stopService()


def test_a_flood_of_texts_is_bounded(clock: Clock, statistics: FailingStatistics) -> None:
    from directory_server.features.statistics.recorder import MAX_CANDIDATES, MAX_PENDING

    recorder = recorder_of(clock, statistics)
    # Long texts are not stored, and would take 80 MB or more.
    recorder.searched("REST", "client", "a" * 4_096, True)
    assert not recorder._pending
    for number in range(MAX_PENDING + 5):
        recorder.searched("REST", "client", f"text {number}", True)
    assert len(recorder._pending) == MAX_PENDING
    recorder.flush()
    assert len(recorder._candidates) == MAX_CANDIDATES


def test_names_of_a_day_are_bounded(
    clock: Clock, statistics: FailingStatistics, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorder_module, "MAX_NAMES", 2)
    recorder = recorder_of(clock, statistics)
    for _ in range(2):
        for name in ("a", "b", "c"):
            recorder.opened(name, "")
        recorder.flush()
    today = day_of(clock.seconds())
    assert run_sync(statistics.totals("entries", 0, today, limit=9)) == [Total("a", 2, 0), Total("b", 2, 0)]
    clock.advance(86_400)
    recorder.flush()
    recorder.opened("c", "")
    recorder.flush()
    assert run_sync(statistics.totals("entries", today + 1, today + 1, limit=9)) == [Total("c", 1, 0)]


def test_counts_requests_of_keys_and_opened_entries(server: Server) -> None:
    server.get("/api/open/v1/search?keywords=postgres")
    server.get("/api/open/v1/search?nothing=1")
    server.get("/api/open/v1/search?keywords=postgres", key="mcpd_wrong")
    server.get(f"/api/open/v1/entries/{POSTGRES_ID}")
    server.call("get_mcp_detail", {"mcp_id": POSTGRES_ID})
    server.get(f"/servers/{POSTGRES_ID}", key=None)
    server.get(f"/servers/{POSTGRES_ID}/report", key=None)
    server.get("/servers/00000000-0000-5000-8000-000000000000", key=None)
    server.statistics.flush()
    statistics, today = server.statistics._statistics, day_of(server.clock.seconds())
    assert run_sync(statistics.totals("entries", 0, today, limit=9)) == [Total(POSTGRES_ID, 3, 0)]
    (key,) = run_sync(statistics.totals("keys", 0, today, limit=9))
    assert (key.name, key.failed) == (server.key_id, 1)
    assert key.total >= 4


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


@frozen
class Client:
    """A client: its number, the secret of its key, and the id of its account."""

    number: int
    key: str
    account: str


def clients_of(server: Server) -> list[Client]:
    return [
        Client(number, server.new_key()[1], run_sync(server.accounts.add(f"member{number}@example.org")).id)
        for number in range(LEAST)
    ]


def search_rest(server: Server, text: str, client: Client) -> None:
    server.get(f"/api/open/v1/search?keywords={text}", key=client.key, address=next_address(server))


def search_rest_with_a_new_key_of_the_account(server: Server, text: str, client: Client) -> None:
    _, secret = run_sync(server.keys.create("own", limit=20, expires_at=None, owner=client.account))
    server.get(f"/api/open/v1/search?keywords={text}", key=secret)


def search_mcp(server: Server, text: str, client: Client) -> None:
    server.call("search_mcp", {"keywords": text}, key=client.key, address=next_address(server))


def search_page(server: Server, text: str, client: Client) -> None:
    server.get(f"/?q={text}", key=None, address=f"192.0.2.{client.number}")


def search_page_over_ipv6(server: Server, text: str, client: Client) -> None:
    forwarded = f"2001:db8:0:{client.number}::{len(server.statistics._pending):x}"
    server.get(f"/?q={text}", key=None, address="10.0.0.1", headers={"X-Forwarded-For": forwarded})


def search_page_as_member(server: Server, text: str, client: Client) -> None:
    cookie = {"Cookie": f"test=member{client.number}"}
    server.get(f"/?q={text}", key=None, address=next_address(server), headers=cookie)


def search_registry(server: Server, text: str, client: Client) -> None:
    server.get(f"/v0.1/servers?search={text}", key=None, address=f"192.0.2.{client.number}")


def next_address(server: Server) -> str:
    """Return another address for each search."""
    return f"192.0.2.{len(server.statistics._pending)}"


@pytest.mark.parametrize("server", [{"statistics.queries": 7}], indirect=True)
@pytest.mark.parametrize(
    "search",
    [
        search_rest,
        search_rest_with_a_new_key_of_the_account,
        search_mcp,
        search_page,
        search_page_over_ipv6,
        search_page_as_member,
        search_registry,
    ],
)
def test_a_text_of_one_client_is_not_stored(server: Server, search: Callable[[Server, str, Client], None]) -> None:
    clients = clients_of(server)
    for client in clients:
        search(server, "private", clients[1])
        search(server, "postgres", client)
    assert len(server.statistics._pending) == 2 * LEAST
    server.statistics.flush()
    assert stored_texts(server) == ["postgres"]


@pytest.mark.registry("key", False)
@pytest.mark.parametrize("server", [{"statistics.queries": 7}], indirect=True)
def test_a_registry_with_keys_counts_clients_by_key(server: Server) -> None:
    for client in clients_of(server):
        server.get("/v0.1/servers?search=private", address=next_address(server))
        server.get("/v0.1/servers?search=postgres", key=client.key)
    server.statistics.flush()
    assert stored_texts(server) == ["postgres"]


def stored_texts(server: Server) -> list[str]:
    return [each.name for each in run_sync(server.statistics._statistics.queries(0, limit=9))]


@pytest.mark.parametrize(
    ("keywords", "text"),
    [
        ("GitHub", "github"),
        ("  send   E-mail\n", "send e-mail"),
        ("查询 数据库", "查询 数据库"),
        ("s3 bucket eu-central-1", "s3 bucket eu-central-1"),
        ("authenticationmiddleware", "authenticationmiddleware"),
        ("zero\u200bwidth", "zerowidth"),
    ],
)
def test_counts_the_text_of_a_search(keywords: str, text: str) -> None:
    assert countable(keywords) == text


@pytest.mark.parametrize(
    "keywords",
    [
        "",
        " ",
        "ann@example.org",
        "https://example.org/private",
        "mcpd_" + "a" * 38,
        "call +49 (171) 123 4567",
        "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
        "AKIAIOSFODNN7EXAMPLE",
        "x" * 81,
        "a b " * 50_000,
    ],
)
def test_leaves_out_texts_that_may_be_personal_or_secret(keywords: str) -> None:
    assert countable(keywords) == ""


def test_days_begin_at_midnight_utc() -> None:
    assert (day_of(86_399.9), day_of(86_400.0)) == (0, 1)
