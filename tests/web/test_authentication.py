"""Requests whose key has no quota left, and requests while the quota storage is unavailable."""

from __future__ import annotations

import pytest

from directory_server.domain.errors import Unavailable
from directory_server.domain.quota import Allowance
from directory_server.sqlite import SqliteQuota

from .conftest import Server


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the calls to an unavailable quota."""
    calls = []

    async def charge(self: SqliteQuota, key_id: str, limit: int | None) -> Allowance:
        calls.append("charge")
        raise Unavailable("quota.db cannot be used now: the disk is full.")

    async def peek(self: SqliteQuota, key_id: str, limit: int | None) -> Allowance:
        calls.append("peek")
        raise Unavailable("quota.db cannot be used now: the disk is full.")

    monkeypatch.setattr(SqliteQuota, "charge", charge)
    monkeypatch.setattr(SqliteQuota, "peek", peek)
    return calls


def test_a_request_without_cost_succeeds_without_quota_headers(server: Server, calls: list[str]) -> None:
    response = server.post({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    assert (response.status, calls) == (200, ["peek"])
    assert response.json["result"]["tools"]
    assert [name for name in response.headers if "ratelimit" in name.lower()] == []


def test_a_request_with_cost_is_503(server: Server, calls: list[str]) -> None:
    response = server.get("/api/open/v1/search?keywords=a")
    assert (response.status, response.json["error"], response.headers["Retry-After"]) == (503, "unavailable", "1")


def test_a_batch_tries_the_quota_once(server: Server, calls: list[str]) -> None:
    params = {"name": "search_mcp", "arguments": {"keywords": "a"}}
    batch = [{"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params} for number in range(50)]
    response = server.post(batch)
    assert response.status == 200
    results = [each["result"] for each in response.json]
    assert {result["isError"] for result in results} == {True}
    assert all("the disk is full" in result["content"][0]["text"] for result in results)
    assert calls.count("charge") == 1


def test_charges_that_exceed_the_quota_are_counted(server: Server) -> None:
    _, key = server.new_key(limit=1)
    params = {"name": "search_mcp", "arguments": {"keywords": "a"}}
    batch = [{"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params} for number in range(3)]
    assert server.post(batch, key=key).status == 200
    assert server.get("/api/open/v1/search?keywords=a", key=key).status == 401
    registry = server.application.metrics.registry
    assert registry.get_sample_value("directory_quota_exceeded_total") == 3
