"""`/healthz` and `/readyz`, and errors of the storage in answers, in the access log and in metrics."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from twisted.logger import LogEvent, formatEvent, globalLogPublisher

from directory_server.domain.errors import Unavailable
from directory_server.domain.upstreams import UpstreamState
from directory_server.sqlite import SqliteQuota

from .conftest import Server

if TYPE_CHECKING:
    from directory_server.web.health import Health

INDEX: Any = type("Index", (), {"generation": 3, "__len__": lambda _: 2})()


class Request:
    """As much of a request as an answer needs."""

    def __init__(self) -> None:
        self.status = 0

    def setResponseCode(self, status: int) -> None:
        self.status = status

    def setHeader(self, name: str, value: str) -> None: ...

    def set_fields(self, fields: object) -> None: ...


def asked(answer: Any) -> tuple[int, Any]:
    from directory_server import serialization

    request: Any = Request()
    body = answer(request)
    return request.status, serialization.decode(body)


def health(*obstacles: str, full: bool = False) -> Health:
    from directory_server.web.health import Health

    return Health(INDEX, lambda: obstacles, full, lambda: [UpstreamState("official", error="It answered 500.")])


def test_anybody_learns_no_version_and_no_upstream_by_default() -> None:
    assert asked(health().live) == (200, {"status": "ok", "entries": 2, "generation": 3})


def test_full_health_has_the_version_and_the_upstreams() -> None:
    from directory_server import __version__

    _, told = asked(health(full=True).live)
    assert told["version"] == __version__
    assert told["upstreams"] == {"official": {"status": "failing", "entries": 0, "last_success": None}}


def test_readiness_names_what_stands_against_it() -> None:
    assert asked(health().ready) == (200, {"status": "ready"})
    assert asked(health("storage", "draining").ready) == (
        503,
        {"status": "unavailable", "reasons": ["storage", "draining"]},
    )


def test_neither_needs_a_key(server: Server) -> None:
    assert server.get("/healthz", key=None).status == server.get("/readyz", key=None).status == 200


@pytest.fixture
def lines() -> Iterator[list[str]]:
    """Return the lines of the access log."""
    found: list[str] = []

    def observe(event: LogEvent) -> None:
        if event.get("log_namespace") == "directory_server.access":
            found.append(formatEvent(event))

    globalLogPublisher.addObserver(observe)  # type: ignore[arg-type]
    yield found
    globalLogPublisher.removeObserver(observe)  # type: ignore[arg-type]


@pytest.fixture
def _full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    async def charge(*_: object) -> None:
        raise Unavailable("quota.db cannot be used now: the disk is full.")

    monkeypatch.setattr(SqliteQuota, "charge", charge)


CALL = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "search_mcp", "arguments": {"keywords": "x"}},
}


@pytest.mark.usefixtures("_full_disk")
def test_a_tool_call_that_fails_is_seen_in_the_access_log(server: Server, lines: list[str]) -> None:
    answer = server.post(CALL)
    assert (answer.status, answer.json["result"]["isError"]) == (200, True)
    assert lines[-1].startswith("POST /api/open/mcp 200 ")
    assert lines[-1].endswith(" error=unavailable")


@pytest.mark.usefixtures("_full_disk")
def test_a_batch_has_the_errors_of_all_its_messages(server: Server, lines: list[str]) -> None:
    unknown = {"jsonrpc": "2.0", "id": 2, "method": "tools/nonsense"}
    answer = server.post([CALL, unknown, CALL, {"jsonrpc": "2.0", "id": 3, "method": "ping"}])
    assert answer.status == 200
    assert lines[-1].endswith(" error=method_not_found,unavailable")


@pytest.mark.usefixtures("_full_disk")
def test_a_search_that_fails_is_seen_too(server: Server, lines: list[str]) -> None:
    assert server.get("/api/open/v1/search?keywords=x").status == 503
    assert lines[-1].endswith(" error=unavailable")


def test_an_answer_without_errors_says_nothing_of_them(server: Server, lines: list[str]) -> None:
    assert server.post(CALL).json["result"]["isError"] is False
    assert "error" not in lines[-1]
