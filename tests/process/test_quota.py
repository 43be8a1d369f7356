"""What is spent stays spent, also when the process dies."""

from __future__ import annotations

import time

import pytest

from .conftest import Installation

pytestmark = pytest.mark.process


def test_quota_of_each_key_is_exact_after_a_crash(installation: Installation) -> None:
    script, editor = installation.new_key(), installation.new_key()
    begin = time.time()
    with installation.serve() as server:
        assert [server.search("a", script).status for _ in range(20)] == [200] * 20
        assert [server.call_tool("search_mcp", {"keywords": "a"}, editor)["isError"] for _ in range(20)] == [False] * 20
        server.process.kill()
    with installation.serve() as server:
        rejected = server.search("a", script)
        assert (rejected.status, rejected.json["error"]) == (401, "rate_limited")
        # The first charged request leaves the window of 3600 seconds.
        elapsed = time.time() - begin
        assert 3600 - elapsed - 1 < int(rejected.headers["Retry-After"]) <= 3600
        result = server.call_tool("search_mcp", {"keywords": "a"}, editor)
        assert result["isError"] is True
        assert "Try again in" in result["content"][0]["text"]
