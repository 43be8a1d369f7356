"""The page of usage."""

from __future__ import annotations

import pytest

from directory_server.domain.accounts import Account
from directory_server.domain.keys import Client, KeyUse
from directory_server.features.statistics.rules import Count, QueryCount, day_of
from directory_server.runtime.run_sync import run_sync

from ...web.browsers import Browser
from ...web.conftest import POSTGRES_ID, Server

HOSTILE = "<script>alert(1)</script>"


def add(server: Server, *counts: Count) -> int:
    """Store numbers; return the current day."""
    run_sync(server.statistics._statistics.add(list(counts)))
    return day_of(server.clock.seconds())


def test_shows_requests_and_searches_by_day_and_route(server: Server, operator: Browser) -> None:
    today = day_of(server.clock.seconds())
    add(
        server,
        Count(today, "requests", "/api/open/v1/search", 1_234, 7),
        Count(today - 1, "requests", "/api/open/v1/search", 100, 0),
        Count(today - 1, "requests", HOSTILE, 1, 0),
        Count(today - 2, "requests", "/assets/{name}", 9, 0),
        Count(today - 3, "requests", "-", 3, 3),
        Count(today - 20, "requests", "/news", 55, 0),
        Count(today, "searches", "REST", 1_200, 34),
    )
    operator.get("/admin/usage?days=7")
    assert "2027-01-15 1,234 7 1,200 34" in operator.text
    assert "2027-01-14 101 0 0 0" in operator.text
    assert "/api/open/v1/search 1,334 7" in operator.text
    assert "REST 1,200 34" in operator.text
    assert "Unknown path 3 3" in operator.text
    assert "/news" not in operator.text
    assert HOSTILE not in operator.page
    # Days without a request have no row, and files of pages are no route.
    assert "2027-01-11" not in operator.text.partition("Table")[2]
    assert "/assets/{name}" not in operator.text
    operator.get("/admin/usage")
    assert "/news 55 0" in operator.text
    operator.get(f"/admin/usage?day={today - 1}")
    assert "Usage: 2027-01-14" in operator.text
    assert "/api/open/v1/search 100 0" in operator.text
    for wrong in ("day=0", "day=99999999999999999999", "day=x&days=x", "day=%00"):
        assert operator.get(f"/admin/usage?{wrong}").status == 200


def test_charts_have_a_bar_for_each_day_with_requests(server: Server, operator: Browser) -> None:
    today = day_of(server.clock.seconds())
    add(
        server,
        *(Count(today - day, "requests", "/", 100 + day, 10) for day in range(0, 90, 2)),
        Count(today, "searches", "REST", 8, 2),
    )
    response = operator.get("/admin/usage?days=90")
    assert len(response.body) < 30_000
    searched, *charts = (chart.partition("</svg>")[0] for chart in operator.page.split("<figure")[1:])
    assert len(charts) == 2
    assert charts[0].count("<title>") == 45
    assert charts[0].count('class="failed"') == 46
    assert "2026-10-19: 188 (Errors: 10)" in charts[0]
    assert [chart.count("<title>") for chart in (searched, charts[1])] == [1, 1]
    assert "Searches without a hit: 2" in operator.text


def test_shows_what_is_used_most(server: Server, ann: Account, operator: Browser) -> None:
    key, _ = run_sync(server.keys.create("laptop " + HOSTILE, limit=20, expires_at=None, owner=ann.id))
    uses = [KeyUse(server.key_id, 1.0, Client("", "Claude Code")), KeyUse(key.id, 1.0, Client("", HOSTILE))]
    run_sync(server.application.storage.people.key_uses.record(uses))
    today = day_of(server.clock.seconds())
    add(
        server,
        Count(today, "keys", key.id, 7_000, 1),
        Count(today, "keys", server.key_id, 3_000, 2),
        Count(today - 1, "keys", "revoked0", 2_000, 0),
        Count(today, "entries", POSTGRES_ID, 400, 0),
        Count(today, "entries", "00000000-0000-5000-8000-000000000000", 300, 0),
    )
    operator.get("/admin/usage")
    assert HOSTILE not in operator.page
    assert f'href="/servers/{POSTGRES_ID}"' in operator.page
    assert "Postgres 400" in operator.text
    assert "00000000-0000-5000-8000-000000000000 300" in operator.text
    assert f'href="/admin/keys/{key.id}"' in operator.page
    assert f"{ann.email} 7,000 1" in operator.text
    assert "revoked0 2,000 0" in operator.text
    assert "Claude Code 3,000 2" in operator.text


def test_a_key_has_a_chart_on_the_pages_of_its_owner_and_of_operators(
    server: Server, ann: Account, member: Browser, operator: Browser
) -> None:
    key, _ = run_sync(server.keys.create("laptop", limit=20, expires_at=None, owner=ann.id))
    run_sync(server.keys.create("unused", limit=20, expires_at=None, owner=ann.id))
    today = day_of(server.clock.seconds())
    add(
        server,
        Count(today, "keys", key.id, 40, 2),
        Count(today - 29, "keys", key.id, 20, 0),
        Count(today - 30, "keys", key.id, 500, 0),
    )
    for browser, path in ((member, "/account/keys"), (operator, f"/admin/keys/{key.id}")):
        browser.get(path)
        assert browser.page.count('<figure class="chart">') == 1
        assert "Requests in the last 30 days: 60" in browser.text
        assert browser.page.count("<rect") == 3


def test_the_keys_page_works_without_numbers(server: Server, ann: Account, member: Browser) -> None:
    run_sync(server.keys.create("laptop", limit=20, expires_at=None, owner=ann.id))
    server.application.storage.statistics_tables.close()
    assert member.get("/account/keys").status == 200
    assert "laptop" in member.text


def test_says_first_what_readers_did(server: Server, operator: Browser) -> None:
    today = day_of(server.clock.seconds())
    operator.get("/admin/usage")
    assert "No numbers yet: Most opened entries, Most active keys, Clients of keys, Searches by API" in operator.text
    add(
        server,
        Count(today, "searches", "REST", 3_000, 20),
        Count(today, "keys", server.key_id, 2_500, 0),
        *(Count(today, "requests", path, 700, 0) for path in ("/admin/lists", "/account/keys", "/api/open/v1/search")),
    )
    operator.get("/admin/usage")
    assert "searched 3,000 times, 20 of them without a hit. 1 key made 2,500 requests." in operator.text
    assert "Requests: 700" in operator.text
    assert "/account/keys" not in operator.text
    assert operator.text.index("Most active keys") < operator.text.index("Requests by route")


def test_says_that_texts_are_off(operator: Browser) -> None:
    operator.get("/admin/usage")
    assert "Turn on statistics.queries to see what people look for." in operator.text


@pytest.mark.parametrize("server", [{"statistics.queries": 7}], indirect=True, ids=["with texts"])
def test_shows_frequent_texts(server: Server, operator: Browser) -> None:
    today = day_of(server.clock.seconds())
    texts = [QueryCount(today, f"text {number:02}", 100 - number, number) for number in range(60)]
    run_sync(server.statistics._statistics.add([], [*texts, QueryCount(today, HOSTILE, 900, 900)]))
    response = operator.get("/admin/usage?days=30")
    assert len(response.body) < 30_000
    assert "text 00 100 0" in operator.text
    assert "text 59 41 59" in operator.text
    assert "text 30" not in operator.text.partition("Frequent searches without a hit")[0]
    assert HOSTILE not in operator.page
    assert "at least 5 clients searched for" in operator.text


def test_numbers_that_cannot_be_read_do_not_break_the_page(server: Server, operator: Browser) -> None:
    server.application.storage.statistics_tables.close()
    assert operator.get("/admin/usage").status == 503
    assert "cannot be read now" in operator.text
    assert server.get("/api/open/v1/search?keywords=postgres").status == 200
