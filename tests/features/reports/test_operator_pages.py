"""Reports as a resource: pages and command."""

from __future__ import annotations

import json

import pytest

from directory_server.features.reports.resource import REASONS, REPORT, new_report
from directory_server.runtime.run_sync import run_sync
from directory_server.tables import Requests

from ...cli.conftest import CommandLine
from ...web.browsers import Browser
from ...web.conftest import POSTGRES, POSTGRES_ID, Server

HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>"


def report(reports: Requests, text: str, reason: str = "broken") -> str:
    """Store a report; return its id."""
    return run_sync(reports.add(new_report(POSTGRES_ID, POSTGRES.name, "1.0.0", reason, text), text, 86_400.0))


def test_lists_and_closes_reports(server: Server, operator: Browser) -> None:
    operator.get("/admin/reports")
    assert "No reports." in operator.text
    first = report(server.reports, "It does not start.")
    operator.get("/admin")
    assert "1 open report" in operator.text
    operator.get("/admin/reports")
    assert "It does not start." in operator.text
    path = f"/admin/reports/{first}"
    operator.get(path)
    assert f"/admin/entry?name={POSTGRES.name.replace('/', '%2F')}" in operator.page
    operator.follow(operator.post(f"{path}/close"))
    assert "Report closed." in operator.text
    assert f"{path}/close" not in operator.page
    operator.get("/admin/reports")
    assert "No reports." in operator.text
    operator.get("/admin/reports?state=decided")
    assert "It does not start." in operator.text


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_reason_has_a_text_and_texts_are_escaped(server: Server, operator: Browser, language: str) -> None:
    for reason in REASONS:
        report(server.reports, HOSTILE, reason)
    response = operator.get(f"/admin/reports?lang={language}")
    assert response.status == 200
    assert "<script>alert" not in operator.page
    assert "<img src=x" not in operator.page


def test_pages_of_long_reports_are_small(server: Server, operator: Browser) -> None:
    for number in range(REPORT.per_subject):
        report(server.reports, f"{number:02}" + "\N{CJK UNIFIED IDEOGRAPH-6570}" * 990)
    assert len(operator.get("/admin/reports").body) < 30_000


def test_the_command_lists_and_closes(directory: CommandLine) -> None:
    reports = Requests(directory.accounts._tables, (REPORT,))
    one, other = report(reports, "It does not start."), report(reports, "a\x1b[31m\nb")
    listed = json.loads(directory.succeed("report", "list", "--json"))
    assert {(each["id"], each["name"], each["reason"]) for each in listed} == {
        (one, POSTGRES.name, "broken"),
        (other, POSTGRES.name, "broken"),
    }
    assert listed[0]["created_at"] == "1970-01-02T00:00:00Z"
    assert "\x1b" not in directory.succeed("report", "list")
    assert "is closed" in directory.run("report", "close", one, other).stderr
    assert json.loads(directory.succeed("report", "list", "--json")) == []
    assert len(json.loads(directory.succeed("report", "list", "--state", "decided", "--json"))) == 2
    assert [each["event"] for each in json.loads(directory.succeed("report", "log", one, "--json"))] == [
        *("requested", "closed")
    ]
