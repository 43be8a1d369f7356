"""The page of usage."""

from __future__ import annotations

import pytest

from directory_server.features.statistics.rules import Count, QueryCount, day_of
from directory_server.run_sync import run_sync

from ...web.browsers import Browser
from ...web.conftest import Server

HOSTILE = "<script>alert(1)</script>"


def test_shows_requests_and_searches_by_day_and_route(server: Server, operator: Browser) -> None:
    today = day_of(server.clock.seconds())
    statistics = server.statistics._statistics
    run_sync(
        statistics.add(
            [
                Count(today, "requests", "/api/open/v1/search", 1_234, 7),
                Count(today - 1, "requests", "/api/open/v1/search", 100, 0),
                Count(today - 1, "requests", HOSTILE, 1, 0),
                Count(today - 20, "requests", "/news", 55, 0),
                Count(today, "searches", "REST", 1_200, 34),
            ]
        )
    )
    operator.get("/admin/usage")
    assert "2027-01-15 1,234 7 1,200 34" in operator.text
    assert "2027-01-14 101 0 0 0" in operator.text
    assert "/api/open/v1/search 1,334 7" in operator.text
    assert "REST 1,200 34" in operator.text
    assert "/news" not in operator.text
    assert HOSTILE not in operator.page
    operator.get("/admin/usage?days=30")
    assert "/news 55 0" in operator.text
    operator.get(f"/admin/usage?day={today - 1}")
    assert "Usage: 2027-01-14" in operator.text
    assert "/api/open/v1/search 100 0" in operator.text
    for wrong in ("day=0", "day=99999999999999999999", "day=x&days=x", "day=%00"):
        assert operator.get(f"/admin/usage?{wrong}").status == 200


def test_says_that_texts_are_off(operator: Browser) -> None:
    operator.get("/admin/usage")
    assert "Texts of searches are not stored." in operator.text


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
