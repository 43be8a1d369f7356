"""The REST API tested against its OpenAPI description with schemathesis: valid requests succeed, invalid ones fail."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from .conftest import Installation, Server

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(find_spec("schemathesis") is None, reason="schemathesis is not installed; it comes with [dev]"),
]

SECONDS = 120
"""After which something is wrong with the test rather than with the server."""


def test_the_server_does_what_it_says_of_itself(sample_server: tuple[Installation, Server], tmp_path: Path) -> None:
    installation, server = sample_server
    key = installation.new_key("--limit", "unlimited")
    command: list[str | Path] = [Path(sys.executable).with_name("schemathesis"), "--no-color"]
    command += ["--config-file", Path(__file__).with_name("schemathesis.toml")]
    command += ["run", f"{server.url}/api/open/openapi.json", "--max-examples", "30"]
    command += ["--generation-deterministic", "--request-timeout", "10"]
    # Without the second, the change feed would open streams.
    command += ["-H", f"Authorization: Bearer {key}", "-H", "Accept: application/json"]
    done = subprocess.run(
        command, cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SECONDS
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "No issues found" in done.stdout, done.stdout
