"""The Python SDK, in each of its modes, against a running server."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import MCP, TIMEOUT, Installation, Server, entry_line, environment

pytestmark = pytest.mark.process


@pytest.mark.parametrize(
    ("mode", "version"), [("legacy", "2025-11-25"), ("auto", "2026-07-28"), ("2026-07-28", "2026-07-28")]
)
def test_an_editor_finds_and_looks_up_until_its_quota_is_spent(
    sample_server: tuple[Installation, Server], mode: str, version: str
) -> None:
    installation, server = sample_server
    key = installation.new_key("--limit", 3)
    script = Path(__file__).with_name("sdk_client.py")
    done = subprocess.run(
        [sys.executable, script, server.url + MCP, key, mode],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=2 * TIMEOUT,
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["version"] == version
    assert said["tools"] == ["search_mcp", "get_mcp_detail"]
    assert said["bad"]["is_error"] is True
    assert "limit: must be a whole number from 1 to 100" in said["bad"]["content"][0]["text"]
    hits = said["found"]["structured_content"]["data"]
    assert 1 <= len(hits) <= 3
    assert said["detail"]["structured_content"]["data"]["mcp_id"] == hits[0]["mcp_id"]
    assert said["detail"]["is_error"] is said["last"] is False
    assert said["over"]["is_error"] is True
    assert "Try again in" in said["over"]["content"][0]["text"]


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_an_editor_is_told_of_an_import_and_lists_it(installation: Installation, mode: str) -> None:
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
            installation.command("import", "-", stdin=entry_line("a.example/new"))
            told = json.loads(listener.stdout.readline())
            assert told["listed"][0] == "a.example/new"
            assert len(told["listed"]) == 20
            assert listener.wait(TIMEOUT) == 0
        finally:
            listener.kill()
