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

SECONDS = 600
"""Upper bound on the run of schemathesis, far above what a loaded machine needs."""


def test_responses_conform_to_the_openapi_document(sample_server: tuple[Installation, Server], tmp_path: Path) -> None:
    installation, server = sample_server
    key = installation.new_key("--limit", "unlimited")
    command: list[str | Path] = [Path(sys.executable).with_name("schemathesis"), "--no-color"]
    command += ["--config-file", Path(__file__).with_name("schemathesis.toml")]
    command += ["run", f"{server.url}/api/open/openapi.json", "--max-examples", "30"]
    command += ["--generation-deterministic", "--request-timeout", "60"]
    # Without the Accept header, the change feed could open streams.
    command += ["-H", f"Authorization: Bearer {key}", "-H", "Accept: application/json"]
    process = subprocess.run(
        command, cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SECONDS
    )
    assert process.returncode == 0, process.stdout + process.stderr
    assert "No issues found" in process.stdout, process.stdout
