"""Metrics over a socket, at a listener of their own."""

from __future__ import annotations

import re

import pytest

from .conftest import MCP, SEARCH, Installation, until

pytestmark = pytest.mark.process


def value(text: str, name: str) -> float:
    found = re.search(rf"^{re.escape(name)} (\S+)$", text, re.MULTILINE)
    assert found, f"{name} is not in\n{text}"
    return float(found[1])


def test_a_server_tells_what_it_does_to_whom_asks_at_the_other_port(installation: Installation) -> None:
    installation.command("quickstart")
    key = installation.new_key("--limit", "2")
    with installation.serve("--set", "metrics.listen=tcp:0:interface=127.0.0.1", "--set", "log.access=json") as server:
        metrics = server.metrics()
        for _ in range(3):
            server.search("postgres", key)
        server.request(f"/api/open/v1/entries/{key}", key)
        with server.open_stream(key):
            answer = metrics.request("/metrics")
            text = answer.body.decode()
            assert str(answer.headers["Content-Type"]).startswith("text/plain")
            assert value(text, "directory_streams") == 1
        counter = f'directory_requests_total{{api="{SEARCH}",method="GET",status="%s"}}'
        assert [value(text, counter % status) for status in (200, 401)] == [2, 1]
        assert value(text, f'directory_requests_total{{api="{MCP}",method="GET",status="200"}}') == 1
        assert value(text, f'directory_request_seconds_count{{api="{SEARCH}"}}') == 3
        assert value(text, "directory_quota_exceeded_total") == 1
        assert value(text, "directory_index_entries") == 50
        assert value(text, "directory_index_build_seconds_count") >= 1
        assert key not in text
        until(lambda: value(server.metrics_text(), "directory_reactor_lag_seconds_count"), "the lag")
        assert metrics.request("/").status == 404
        assert server.request("/metrics").status == 404
        log = server.stop()
    assert key not in log
    assert '"route":"/api/open/v1/entries/{mcp_id}"' in log
