"""`/healthz` and `/readyz`, and storage errors in responses, in the access log and in metrics."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from directory_server import __version__, serialization
from directory_server.domain.errors import Unavailable
from directory_server.domain.upstreams import UpstreamState
from directory_server.runtime.run_sync import run_sync
from directory_server.sqlite import SqliteQuota
from directory_server.web.health import Health

from ..logs import captured_lines
from .conftest import Server

if TYPE_CHECKING:
    from directory_server.web.health import Health

INDEX: Any = type("Index", (), {"generation": 3, "__len__": lambda _: 2})()


class Request:
    """The methods of a request that a JSON response uses."""

    def __init__(self, is_foreign: bool) -> None:
        self.status = 0
        self.is_foreign = is_foreign

    def setResponseCode(self, status: int) -> None:
        self.status = status

    def setHeader(self, name: str, value: str) -> None: ...

    def set_fields(self, fields: object) -> None: ...


def call(handler: Any, *, is_foreign: bool = False) -> tuple[int, Any]:
    request: Any = Request(is_foreign)
    body = run_sync(handler(request))
    return request.status, serialization.decode(body)


def health(*reasons: str, full: bool = False) -> Health:
    upstreams = [UpstreamState("official", error="It answered 500.")]
    return Health(INDEX, lambda: reasons, full, lambda: upstreams, faults=[lambda: {"paused_webhooks": 2}, dict])


def test_health_hides_version_and_upstreams_by_default() -> None:
    assert call(health().live) == (200, {"status": "ok", "entries": 2, "generation": 3})


def test_full_health_includes_version_and_upstreams() -> None:
    _, body = call(health(full=True).live)
    assert body["version"] == __version__
    assert body["upstreams"] == {"official": {"status": "failing", "entries": 0, "last_success": None}}
    assert body["faults"] == {"paused_webhooks": 2}
    assert call(health(full=True).live, is_foreign=True) == call(health().live)


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize(
    ("away_since", "state"),
    [
        (None, {"database": "available", "since": None}),
        (1_800_000_000.9, {"database": "away", "since": "2027-01-15T08:00:00Z"}),
    ],
)
def test_health_tells_since_when_the_database_is_away(
    full: bool, away_since: float | None, state: dict[str, str | None]
) -> None:
    status, body = call(Health(INDEX, is_full=full, away_since=lambda: away_since).live)
    assert status == 200
    assert body["status"] == "ok"
    assert {name: body[name] for name in state} == state


def test_readiness_lists_the_reasons() -> None:
    assert call(health().ready) == (200, {"status": "ready"})
    assert call(health("storage", "draining").ready) == (
        503,
        {"status": "unavailable", "reasons": ["storage", "draining"]},
    )


def test_a_process_is_not_ready_before_a_search_waits_for_nothing(server: Server) -> None:
    server.application.readiness.is_preloaded = False
    response = server.get("/readyz")
    assert (response.status, response.json["reasons"]) == (503, ["index"])
    server.application.readiness.is_preloaded = True
    assert server.get("/readyz").status == 200


@pytest.fixture
def lines() -> Iterator[list[str]]:
    """Return the list of access log lines."""
    with captured_lines("directory_server.access") as lines:
        yield lines


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
def test_the_access_log_has_the_error_of_a_failed_tool_call(server: Server, lines: list[str]) -> None:
    response = server.post(CALL)
    assert (response.status, response.json["result"]["isError"]) == (200, True)
    assert lines[-1].startswith("POST /api/open/mcp 200 ")
    assert lines[-1].endswith(" error=unavailable")


@pytest.mark.usefixtures("_full_disk")
def test_the_access_log_has_the_errors_of_all_messages_of_a_batch(server: Server, lines: list[str]) -> None:
    unknown = {"jsonrpc": "2.0", "id": 2, "method": "tools/nonsense"}
    response = server.post([CALL, unknown, CALL, {"jsonrpc": "2.0", "id": 3, "method": "ping"}])
    assert response.status == 200
    assert lines[-1].endswith(" error=method_not_found,unavailable")


def test_the_access_log_has_no_error_field_without_errors(server: Server, lines: list[str]) -> None:
    assert server.post(CALL).json["result"]["isError"] is False
    assert "error" not in lines[-1]
