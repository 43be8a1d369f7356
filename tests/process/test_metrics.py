"""Metrics on their own port."""

from __future__ import annotations

import json
import re

import pytest

from .conftest import MCP, SEARCH, Installation, until

pytestmark = pytest.mark.process


def metric(text: str, name: str) -> float:
    found = re.search(rf"^{re.escape(name)} (\S+)$", text, re.MULTILINE)
    assert found, f"{name} is not in\n{text}"
    return float(found[1])


def test_metrics_count_requests_streams_and_errors_without_keys(installation: Installation) -> None:
    installation.command("quickstart")
    key = installation.new_key("--limit", "2")
    with installation.serve("--set", "metrics.listen=tcp:0:interface=127.0.0.1", "--set", "log.access=json") as server:
        metrics = server.metrics()
        for _ in range(3):
            server.search("postgres", key)
        server.request(f"/api/open/v1/entries/{key}", key)
        with server.open_stream(key):
            response = metrics.request("/metrics")
            text = response.body.decode()
            assert str(response.headers["Content-Type"]).startswith("text/plain")
            assert metric(text, "directory_streams") == 1
        counter = f'directory_requests_total{{api="{SEARCH}",method="GET",status="%s"}}'
        assert [metric(text, counter % status) for status in (200, 401)] == [2, 1]
        assert metric(text, f'directory_requests_total{{api="{MCP}",method="GET",status="200"}}') == 1
        assert metric(text, f'directory_request_seconds_count{{api="{SEARCH}"}}') == 3
        assert metric(text, "directory_quota_exceeded_total") == 1
        assert metric(text, "directory_index_entries") == 50
        assert metric(text, "directory_index_build_seconds_count") >= 1
        assert key not in text
        until(lambda: metric(server.metrics_text(), "directory_reactor_lag_seconds_count"), "the lag")
        assert metrics.request("/").status == 404
        assert server.request("/metrics").status == 404
        log = server.stop()
    assert key not in log
    lines = [json.loads(line) for line in log.splitlines() if "/api/open/" in line]
    assert "/api/open/v1/entries/{mcp_id}" in {line["route"] for line in lines}
