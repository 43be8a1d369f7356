"""What is spent stays spent, also when the process dies."""

from __future__ import annotations

import pytest

from .conftest import Installation

pytestmark = pytest.mark.process


def test_twenty_answers_and_no_more_even_after_a_crash(installation: Installation) -> None:
    script, editor = installation.new_key(), installation.new_key()
    with installation.serve() as server:
        assert [server.search("a", script).status for _ in range(20)] == [200] * 20
        assert [server.call_tool("search_mcp", {"keywords": "a"}, editor)["isError"] for _ in range(20)] == [False] * 20
        server.process.kill()
    with installation.serve() as server:
        refused = server.search("a", script)
        assert (refused.status, refused.json["error"]) == (401, "rate_limited")
        assert 3500 < int(refused.headers["Retry-After"]) <= 3600
        result = server.call_tool("search_mcp", {"keywords": "a"}, editor)
        assert result["isError"] is True
        assert "Try again in" in result["content"][0]["text"]
