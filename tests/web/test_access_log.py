"""What is told of a request, and that it costs nothing to say it where nobody listens."""

from __future__ import annotations

import errno
import json
import re
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from twisted.internet.task import Clock
from twisted.logger import LogEvent, Logger, LogPublisher, formatEvent, textFileLogObserver

if TYPE_CHECKING:
    from directory_server.web.access_log import AccessRecord

ENDED = 1_800_000_000.25

SEARCHED: Any = ("GET", "/api/open/v1/search", 200, 389, 0.00072, "f2zca6az", "ebf3ace90c0e-1")
SEARCHED_LINE = "GET /api/open/v1/search 200 389 B 0.7 ms key=f2zca6az id=ebf3ace90c0e-1"
REFUSED: Any = ("-", "-", 400, 85, 0.0, None, "ebf3ace90c0e-2")


def recorded(form: Any, *records: Any) -> list[str]:
    """Return the lines of a log about requests that ended one after the other in the year 2027."""
    from directory_server.web import access_log

    events: list[LogEvent] = []
    logger = Logger("directory_server.access", observer=LogPublisher(events.append))  # type: ignore[arg-type]
    clock = Clock()
    told = access_log.AccessRecorder(lambda: ENDED, [access_log.AccessLog(form, clock, logger)])
    for record in records:
        told.record(*record)
        clock.advance(0)
    return [formatEvent(event) for event in events]


def test_a_line_for_people() -> None:
    assert recorded("text", SEARCHED, REFUSED) == [
        "GET /api/open/v1/search 200 389 B 0.7 ms key=f2zca6az id=ebf3ace90c0e-1",
        "- - 400 85 B 0.0 ms key=- id=ebf3ace90c0e-2",
    ]


def test_a_line_for_machines_says_when() -> None:
    searched, refused = map(json.loads, recorded("json", SEARCHED, REFUSED))
    assert searched == {
        "time": "2027-01-15T08:00:00.250+00:00",
        "method": "GET",
        "route": "/api/open/v1/search",
        "status": 200,
        "bytes": 389,
        "milliseconds": 0.72,
        "key": "f2zca6az",
        "id": "ebf3ace90c0e-1",
    }
    assert refused["key"] is None


def test_a_line_has_the_codes_of_the_errors_in_the_answer() -> None:
    batch: Any = (*SEARCHED, ("unavailable", "bad_request", "unavailable"))
    (line,) = recorded("text", batch)
    assert line.endswith(" id=ebf3ace90c0e-1 error=bad_request,unavailable")
    (line,) = recorded("json", batch)
    assert json.loads(line)["error"] == "bad_request,unavailable"


def test_lines_of_one_turn_are_one_event_of_the_log() -> None:
    from directory_server.web import access_log

    written = StringIO()
    clock = Clock()
    log = access_log.AccessLog("text", clock, Logger("directory_server.access", observer=textFileLogObserver(written)))
    told = access_log.AccessRecorder(lambda: ENDED, [log])
    told.record(*SEARCHED)
    told.record(*REFUSED)
    assert written.getvalue() == ""
    clock.advance(0)
    told.record(*SEARCHED)
    log.flush()
    clock.advance(0)
    lines = written.getvalue().splitlines()
    assert [line.partition("] ")[2] for line in lines] == [
        "GET /api/open/v1/search 200 389 B 0.7 ms key=f2zca6az id=ebf3ace90c0e-1",
        "- - 400 85 B 0.0 ms key=- id=ebf3ace90c0e-2",
        "GET /api/open/v1/search 200 389 B 0.7 ms key=f2zca6az id=ebf3ace90c0e-1",
    ]
    assert all(
        re.match(r"\t?\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d{4} \[directory_server.access#info\] ", e) for e in lines
    )


def test_nothing_is_put_together_that_nobody_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    from directory_server.web import access_log

    def written(self: AccessRecord) -> str:
        raise AssertionError("nobody reads this")

    monkeypatch.setattr(access_log.AccessRecord, "text", property(written))
    log = access_log.AccessLog("text", Clock(), Logger("directory_server.access", observer=LogPublisher()))
    access_log.AccessRecorder(lambda: 0.0, [log]).record(*SEARCHED)
    log.flush()


def test_everybody_is_told() -> None:
    from directory_server.web import access_log

    first: list[AccessRecord] = []
    second: list[AccessRecord] = []
    access_log.AccessRecorder(lambda: 5.0, [first.append, second.append]).record(*SEARCHED)
    assert first == second == [access_log.AccessRecord(5.0, *SEARCHED)]


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
        (b"*", "-"),
        (b"", "-"),
        (b"/.well-known/\n", "/.well-known/*"),
    ],
)
def test_a_path_is_known_by_its_template(path: bytes, template: str) -> None:
    from directory_server.web.route_templates import RouteTemplates
    from directory_server.web.routing import Routes

    assert RouteTemplates(rule.rule for rule in Routes.app.url_map.iter_rules()).of(path) == template


def test_werkzeug_finds_the_same() -> None:
    from directory_server.web.route_templates import RouteTemplates
    from directory_server.web.routing import Routes

    rules = [rule.rule for rule in Routes.app.url_map.iter_rules()]
    matcher = Routes.app.url_map.bind("localhost")
    paths = [rule.replace("<mcp_id>", "a").replace("<path:_>", "a/b") for rule in rules]
    for path in [*paths, "/", "/nowhere", "/healthz/x", "/api/open/v1/entries/a/b", "/.well-known/"]:
        found = any(matcher.test(path, method) for method in ("GET", "POST"))
        assert (RouteTemplates(rules).of(path.encode()) != "-") is found, path


def test_lines_in_a_file_of_their_own(tmp_path: Path) -> None:
    from directory_server.web import access_file, access_log

    log = access_log.AccessLog("text", Clock(), access_file.AccessFile(tmp_path / "access.log").logger)
    told = access_log.AccessRecorder(lambda: ENDED, [log])
    told.record(*SEARCHED)
    told.record(*REFUSED)
    log.flush()
    lines = (tmp_path / "access.log").read_text().splitlines()
    assert [line.partition(" ")[2] for line in lines] == [
        "GET /api/open/v1/search 200 389 B 0.7 ms key=f2zca6az id=ebf3ace90c0e-1",
        "- - 400 85 B 0.0 ms key=- id=ebf3ace90c0e-2",
    ]
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d{4}", line.partition(" ")[0]) for line in lines)


def test_a_file_of_lines_that_cannot_be_is_named(tmp_path: Path) -> None:
    from directory_server.domain.errors import Unavailable
    from directory_server.web import access_file

    with pytest.raises(Unavailable, match=r"log\.access_file: .*/absent/access\.log cannot be written: No such file"):
        access_file.AccessFile(tmp_path / "absent" / "access.log")


class Full:
    """A file whose disk is full."""

    def write(self, text: str) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    def close(self) -> None: ...


def test_a_disk_that_is_full_is_told_once_and_the_lines_that_it_lost_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from directory_server.web import access_file, access_log

    said: list[str] = []
    monkeypatch.setattr(
        access_file.AccessFile,
        "_log",
        Logger(observer=lambda event: said.append(formatEvent(event))),  # type: ignore[arg-type]
    )
    path = tmp_path / "access.log"
    file = access_file.AccessFile(path)
    log = access_log.AccessLog("text", Clock(), file.logger)
    told = access_log.AccessRecorder(lambda: ENDED, [log])
    opened = access_file._opened
    monkeypatch.setattr(access_file, "_opened", lambda path: Full())
    file.reopen()
    for _ in range(3):
        told.record(*SEARCHED)
        told.record(*REFUSED)
        log.flush()
    assert said == [f"Access log unavailable: {path}: No space left on device; lines are lost until it can be written"]
    monkeypatch.setattr(access_file, "_opened", opened)
    told.record(*SEARCHED)
    log.flush()
    assert said[1:] == [f"Access log available again: {path}; 6 lines were lost"]
    assert [line.partition(" ")[2] for line in path.read_text().split("\n")] == ["", SEARCHED_LINE, ""]


def test_a_file_that_was_renamed_is_opened_again_by_its_name(tmp_path: Path) -> None:
    from directory_server.web import access_file, access_log

    path = tmp_path / "access.log"
    file = access_file.AccessFile(path)
    log = access_log.AccessLog("text", Clock(), file.logger)
    told = access_log.AccessRecorder(lambda: ENDED, [log])
    told.record(*SEARCHED)
    log.flush()
    path.rename(tmp_path / "old.log")
    file.reopen()
    told.record(*REFUSED)
    log.flush()
    assert "/search" in (tmp_path / "old.log").read_text()
    assert "/search" not in path.read_text()
    assert path.read_text().count("\n") == 1
