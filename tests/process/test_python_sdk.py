"""Clients of the Python SDK, in each of its modes, on a server process."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import MCP, TIMEOUT, Installation, Server, entry_line, environment

pytestmark = pytest.mark.process


@pytest.mark.parametrize(("mode", "version"), [("legacy", "2025-11-25"), ("auto", "2026-07-28")])
def test_sdk_client_searches_and_looks_up_until_its_quota_is_spent(
    sample_server: tuple[Installation, Server], mode: str, version: str
) -> None:
    installation, server = sample_server
    key = installation.new_key("--limit", 3)
    script = Path(__file__).with_name("sdk_client.py")
    process = subprocess.run(
        [sys.executable, script, server.url + MCP, key, mode],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=2 * TIMEOUT,
    )
    assert process.returncode == 0, process.stderr
    results = json.loads(process.stdout)
    assert results["version"] == version
    assert results["tools"] == ["search_mcp", "get_mcp_detail"]
    assert results["bad"]["is_error"] is True
    assert "limit: must be a whole number from 1 to 100" in results["bad"]["content"][0]["text"]
    hits = results["found"]["structured_content"]["data"]
    assert 1 <= len(hits) <= 3
    assert results["detail"]["structured_content"]["data"]["mcp_id"] == hits[0]["mcp_id"]
    assert results["detail"]["is_error"] is results["last"] is False
    assert results["over"]["is_error"] is True
    assert "Try again in" in results["over"]["content"][0]["text"]


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_sdk_client_is_notified_of_an_import_and_lists_it(installation: Installation, mode: str) -> None:
    # A server of its own: a server announces the changes of a minute together.
    installation.command("quickstart")
    key = installation.new_key()
    script = Path(__file__).with_name("sdk_listener.py")
    with (
        installation.serve() as server,
        subprocess.Popen(
            [sys.executable, script, server.url + MCP, key, mode],
            env=environment(),
            stdout=subprocess.PIPE,
            text=True,
        ) as listener,
    ):
        try:
            assert listener.stdout is not None
            listening = json.loads(listener.stdout.readline())
            assert listening == {"version": "2025-11-25" if mode == "legacy" else mode}
            # The list begins with the latest date of publication; those of the sample are in the past.
            official = {"io.modelcontextprotocol.registry/official": {"publishedAt": "2099-01-01T00:00:00Z"}}
            entry = {"server": json.loads(entry_line("a.example/new")), "_meta": official}
            installation.command("import", "-", stdin=json.dumps(entry))
            notified = json.loads(listener.stdout.readline())
            assert notified["listed"][0] == "a.example/new"
            assert len(notified["listed"]) == 20
            assert listener.wait(TIMEOUT) == 0
        finally:
            listener.kill()
