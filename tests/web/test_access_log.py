"""Access log: line formats, one event per reactor turn, the log file."""

from __future__ import annotations

import errno
import json
import os
import re
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from twisted.internet.task import Clock
from twisted.logger import LogEvent, Logger, LogPublisher, formatEvent, textFileLogObserver

from directory_server.domain.errors import Unavailable
from directory_server.runtime.turn import ImmediateTurn, ReactorTurn
from directory_server.web import access_file, access_log

from .conftest import Server

ENDED = 1_800_000_000.25

SEARCH_RECORD: Any = ("GET", "/api/open/v1/search", 200, 389, 0.00072, "f2zca6az", "ebf3ace90c0e-1")
SEARCH_LINE = "GET /api/open/v1/search 200 389 B 0.7 ms key=f2zca6az id=ebf3ace90c0e-1"
MALFORMED: Any = ("-", "-", 400, 85, 0.0, None, "ebf3ace90c0e-2")
MALFORMED_LINE = "- - 400 85 B 0.0 ms key=- id=ebf3ace90c0e-2"


def log_lines(format: Any, *records: Any) -> list[str]:
    """Return the log lines of requests that end one after the other in the year 2027."""
    events: list[LogEvent] = []
    logger = Logger("directory_server.access", observer=LogPublisher(events.append))  # type: ignore[arg-type]
    recorder = access_log.AccessRecorder(lambda: ENDED, [access_log.AccessLog(format, logger)], ImmediateTurn())
    for record in records:
        recorder.record(*record)
    return [formatEvent(event) for event in events]


def test_text_format() -> None:
    assert log_lines("text", SEARCH_RECORD, MALFORMED) == [SEARCH_LINE, MALFORMED_LINE]


def test_json_format_includes_the_time() -> None:
    search, malformed = map(json.loads, log_lines("json", SEARCH_RECORD, MALFORMED))
    assert search == {
        "time": "2027-01-15T08:00:00.250+00:00",
        "method": "GET",
        "route": "/api/open/v1/search",
        "status": 200,
        "bytes": 389,
        "milliseconds": 0.72,
        "key": "f2zca6az",
        "id": "ebf3ace90c0e-1",
    }
    assert malformed["key"] is None


def test_a_line_includes_the_error_codes_of_the_response() -> None:
    batch: Any = (*SEARCH_RECORD, ("unavailable", "bad_request", "unavailable"))
    (line,) = log_lines("text", batch)
    assert line.endswith(" id=ebf3ace90c0e-1 error=bad_request,unavailable")
    (line,) = log_lines("json", batch)
    assert json.loads(line)["error"] == "bad_request,unavailable"


def test_lines_of_one_reactor_turn_are_one_log_event() -> None:
    written = StringIO()
    clock = Clock()
    log = access_log.AccessLog("text", Logger("directory_server.access", observer=textFileLogObserver(written)))
    recorder = access_log.AccessRecorder(lambda: ENDED, [log], ReactorTurn(clock))
    recorder.record(*SEARCH_RECORD)
    recorder.record(*MALFORMED)
    assert written.getvalue() == ""
    clock.advance(0)
    recorder.record(*SEARCH_RECORD)
    recorder.flush()
    clock.advance(0)
    lines = written.getvalue().splitlines()
    assert [line.partition("] ")[2] for line in lines] == [
        SEARCH_LINE,
        MALFORMED_LINE,
        SEARCH_LINE,
    ]
    assert all(
        re.match(r"\t?\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d{4} \[directory_server.access#info\] ", e) for e in lines
    )


@pytest.mark.parametrize(
    ("path", "template"),
    [
        (b"/healthz", "/healthz"),
        (b"/api/open/v1/search", "/api/open/v1/search"),
        (b"/api/open/mcp", "/api/open/mcp"),
        (b"/api/open/v1/entries/mcpd_secret", "/api/open/v1/entries/{mcp_id}"),
        (b"/api/open/v1/entries/%ff", "/api/open/v1/entries/{mcp_id}"),
        (b"/.well-known/a/b/mcpd_secret", "/.well-known/*"),
        (b"/api/open/mcp/.well-known/a", "/api/open/mcp/.well-known/*"),
        (b"/api/open/v1/entries/", "-"),
        (b"/api/open/v1/entries/a/b", "-"),
        (b"/healthz/", "-"),
        (b"/HEALTHZ", "-"),
        (b"/mcpd_secret", "-"),
        (b"//healthz", "-"),
        (b"*", "/"),
        (b"", "-"),
    ],
)
def test_the_label_of_a_path_is_its_template(server: Server, path: bytes, template: str) -> None:
    assert {server.site._routes.match(method, path).route.label for method in ("GET", "POST", "X")} == {template}


@pytest.mark.parametrize(
    ("path", "api"),
    [
        (b"/api/open/v1/search", "REST"),
        (b"/api/nonsense", "REST"),
        (b"/api/open/mcp", "MCP"),
        (b"/v0/servers", "registry"),
        (b"/v0.1/nonsense", "registry"),
        (b"/r/secret/v0.1/servers", "registry"),
        (b"/register", "OAuth"),
        (b"/.well-known/", "OAuth"),
        (b"/readyz/", "status"),
        (b"/account/register", "pages"),
        (b"/nonsense", "pages"),
        (b"", "pages"),
    ],
)
def test_the_api_of_a_path_decides_the_error_format_also_without_a_route(server: Server, path: bytes, api: str) -> None:
    assert server.site._routes.match("GET", path).route.api.name == api


def write(file: access_file.AccessFile, *records: Any, format: Any = "text") -> None:
    """Write the log lines of requests that end in one reactor turn to an access file."""
    log = access_log.AccessLog(format, file.logger)
    recorder = access_log.AccessRecorder(lambda: ENDED, [log], ReactorTurn(Clock()))
    for record in records:
        recorder.record(*record)
    recorder.flush()


def test_lines_are_written_to_the_access_file(tmp_path: Path) -> None:
    write(access_file.AccessFile(tmp_path / "access.log"), SEARCH_RECORD, MALFORMED)
    lines = (tmp_path / "access.log").read_text().splitlines()
    assert [line.partition(" ")[2] for line in lines] == [SEARCH_LINE, MALFORMED_LINE]
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d{4}", line.partition(" ")[0]) for line in lines)


def test_an_access_file_that_cannot_be_opened_is_named_in_the_error(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match=r"log\.access_file: .*/absent/access\.log cannot be written: No such file"):
        access_file.AccessFile(tmp_path / "absent" / "access.log")


@pytest.mark.parametrize("kind", ["pipe", "folder", "device"])
def test_an_access_file_that_is_not_a_regular_file_is_rejected(tmp_path: Path, kind: str) -> None:
    path = Path(os.devnull) if kind == "device" else tmp_path / kind
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    with pytest.raises(
        Unavailable, match=rf"log\.access_file: {path} .*: It is not a regular file\. - is the standard"
    ):
        access_file.AccessFile(path)


class FullFile:
    """A file on a full disk."""

    def write(self, text: str) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    def close(self) -> None: ...


def test_a_full_disk_is_logged_once_and_dropped_lines_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    messages: list[str] = []
    monkeypatch.setattr(
        access_file.AccessFile,
        "_log",
        Logger(observer=lambda event: messages.append(formatEvent(event))),  # type: ignore[arg-type]
    )
    path = tmp_path / "access.log"
    file = access_file.AccessFile(path)
    open_file = access_file._open
    monkeypatch.setattr(access_file, "_open", lambda path: FullFile())
    file.reopen()
    for _ in range(3):
        write(file, SEARCH_RECORD, MALFORMED)
    assert messages == [
        f"Access log unavailable: {path}: No space left on device; lines are dropped until it can be written"
    ]
    monkeypatch.setattr(access_file, "_open", open_file)
    write(file, SEARCH_RECORD)
    assert messages[1:] == [f"Access log available again: {path}; 6 lines dropped"]
    assert [line.partition(" ")[2] for line in path.read_text().split("\n")] == ["", SEARCH_LINE, ""]


def test_a_json_file_has_one_object_on_each_line(tmp_path: Path) -> None:
    path = tmp_path / "access.log"
    hostile: Any = ('GE\nT"', "/x", 400, 85, 0.0, None, "ebf3ace90c0e-3")
    for records in ((SEARCH_RECORD, MALFORMED, hostile), (SEARCH_RECORD,)):
        write(access_file.AccessFile(path), *records, format="json")
    lines = path.read_text().split("\n")
    assert lines.pop() == ""
    assert [json.loads(line)["method"] for line in lines] == ["GET", "-", 'GE\nT"', "GET"]
    assert all(json.loads(line)["time"] == "2027-01-15T08:00:00.250+00:00" for line in lines)


def test_json_lines_go_to_standard_output(capfd: pytest.CaptureFixture[str]) -> None:
    assert access_file.has_standard_output()
    write(access_file.AccessFile(access_file.STANDARD_OUTPUT), SEARCH_RECORD, MALFORMED, format="json")
    written = capfd.readouterr().out.splitlines()
    assert [json.loads(line)["id"] for line in written] == ["ebf3ace90c0e-1", "ebf3ace90c0e-2"]


def test_reopen_opens_the_file_by_its_name_after_a_rename(tmp_path: Path) -> None:
    path = tmp_path / "access.log"
    file = access_file.AccessFile(path)
    write(file, SEARCH_RECORD)
    path.rename(tmp_path / "old.log")
    file.reopen()
    write(file, MALFORMED)
    assert "/search" in (tmp_path / "old.log").read_text()
    assert "/search" not in path.read_text()
    assert path.read_text().count("\n") == 1
