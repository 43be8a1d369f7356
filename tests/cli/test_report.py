"""`directory-server report`: output and effect of each command."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from directory_server import sqlite
from directory_server.features.reports.tables import Report, Reports
from directory_server.run_sync import run_sync

from .conftest import CommandLine


@pytest.fixture
def reports(directory: CommandLine) -> Iterator[Reports]:
    opened = sqlite.DataDirectory(directory.data)
    yield Reports(sqlite.SqliteTables(opened.directory))
    opened.close()


def add(reports: Reports, **values: object) -> Report:
    text = str(values.get("text", "It does not start."))
    return run_sync(reports.add(Report("id-1", "io.github.example/mail", "1.0.0", "broken", text, 86_400.0)))


def test_open_reports_are_listed_and_closed(directory: CommandLine, reports: Reports) -> None:
    one, other = add(reports), add(reports, text="a\x1b[31m\nb" + "x" * 100)
    lines = directory.succeed("report", "list").splitlines()
    assert lines[0].split() == ["ID", "REPORTED", "ENTRY", "REASON", "TEXT"]
    assert lines[1].split()[:5] == [other.id, "1970-01-02", "00:00", "io.github.example/mail", "broken"]
    assert "\x1b" not in lines[1]
    assert lines[1].endswith("…")
    assert lines[2].endswith("It does not start.")
    assert "is closed" in directory.run("report", "close", one.id, other.id).stderr
    assert len(directory.succeed("report", "list").splitlines()) == 1
    assert len(directory.succeed("report", "list", "--closed").splitlines()) == 3


def test_reports_as_json(directory: CommandLine, reports: Reports) -> None:
    added = add(reports)
    (shown,) = json.loads(directory.succeed("report", "list", "--json"))
    assert shown == {
        "id": added.id,
        "mcp_id": "id-1",
        "server_name": "io.github.example/mail",
        "version": "1.0.0",
        "reason": "broken",
        "text": "It does not start.",
        "reported_at": "1970-01-02T00:00:00Z",
        "closed_at": None,
    }
    assert json.loads(directory.succeed("report", "list", "--closed", "--json")) == []


def test_an_unknown_report_is_named(directory: CommandLine) -> None:
    assert directory.fail("report", "close", "nosuchid") == "Error: No report has the id 'nosuchid'."
