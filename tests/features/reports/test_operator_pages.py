"""The operator pages of reports."""

from __future__ import annotations

import re

import pytest

from directory_server.features.reports.reader_pages import ReaderPages
from directory_server.features.reports.tables import REASONS, Report
from directory_server.run_sync import run_sync

from ...web.browsers import Browser
from ...web.conftest import POSTGRES, POSTGRES_ID, Server
from ...web.routes import handlers

HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>"


def report(server: Server, text: str, reason: str = "broken") -> Report:
    """Store a report."""
    reports = handlers(server, ReaderPages)._reports
    added: Report = run_sync(
        reports.add(Report(POSTGRES_ID, POSTGRES.name, "1.0.0", reason, text, server.clock.seconds()))
    )
    return added


def test_lists_and_closes_reports(server: Server, operator: Browser) -> None:
    operator.get("/admin/reports")
    assert "No reports." in operator.text
    first = report(server, "It does not start.")
    operator.get("/admin")
    assert "1 open report" in operator.text
    operator.get("/admin/reports")
    assert "It does not start." in operator.text
    assert f"/admin/entry?name={POSTGRES.name.replace('/', '%2F')}" in operator.page.replace("/post", "%2Fpost")
    operator.follow(operator.post("/admin/reports/close", {"id": first.id}))
    assert "Report closed." in operator.text
    assert "0 open reports" in operator.text
    operator.get("/admin/reports?state=closed")
    assert "It does not start." in operator.text
    operator.get("/account/keys")
    assert operator.submit("/admin/reports/close", {"id": "nosuchid"}) == "not_found"


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_reason_has_a_text_and_texts_are_escaped(server: Server, operator: Browser, language: str) -> None:
    for reason in REASONS:
        report(server, HOSTILE, reason)
    response = operator.get(f"/admin/reports?lang={language}")
    assert response.status == 200
    assert "<script>alert" not in operator.page
    assert "<img src=x" not in operator.page


def test_reports_are_paged_and_pages_are_small(server: Server, operator: Browser) -> None:
    for number in range(15):
        server.clock.advance(1)
        report(server, f"{number:02}" + "数" * 990)
    seen = []
    path = "/admin/reports"
    while path:
        assert len(operator.get(path).body) < 30_000
        seen += re.findall(r"<bdi>(\d\d)数", operator.page)
        following = re.search(r'href="([^"]*)" rel="next"', operator.page)
        path = following[1].replace("&amp;", "&") if following else ""
    assert seen == [f"{number:02}" for number in reversed(range(15))]
    for wrong in ("page=0", "page=-1", "page=99999", "page=x", "page=%D9%A3"):
        assert operator.get(f"/admin/reports?{wrong}").status == 200
