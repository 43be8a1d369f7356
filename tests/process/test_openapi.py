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


def run_schemathesis(server: Server, secret: str, folder: Path, *options: str) -> str:
    """Test the operations that `options` select, with `secret` in the Authorization header; return the report."""
    command: list[str | Path] = [Path(sys.executable).with_name("schemathesis"), "--no-color"]
    command += ["--config-file", Path(__file__).with_name("schemathesis.toml")]
    command += ["run", f"{server.url}/api/open/openapi.json", "--max-examples", "5", *options]
    command += ["--generation-deterministic", "--request-timeout", "60"]
    # Without the Accept header, the change feed could open streams.
    command += ["-H", f"Authorization: Bearer {secret}", "-H", "Accept: application/json"]
    process = subprocess.run(
        command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SECONDS
    )
    assert process.returncode == 0, process.stdout + process.stderr
    return process.stdout


def test_responses_conform_to_the_openapi_document(sample_server: tuple[Installation, Server], tmp_path: Path) -> None:
    installation, server = sample_server
    key = installation.new_key("--limit", "unlimited")
    report = run_schemathesis(server, key, tmp_path, "--exclude-path-regex", "^/v0.1/")
    assert "No issues found" in report, report


def test_responses_to_publishers_conform_to_the_openapi_document(installation: Installation, tmp_path: Path) -> None:
    token = installation.command("publisher", "create", "--label", "ci", "--namespace", "io.acme/*").strip()
    settings = {
        "publish.enabled": "true",
        "publish.per_minute": "100000",
        "registry.per_minute": "100000",
        "http.failed_keys": "100000",
        # An issuer that does not answer.
        "publish.github_issuer": "http://127.0.0.1:9",
        "publish.github_audience": "http://registry.example",
        "publish.github_namespaces": "*",
    }
    with installation.serve(*(text for item in settings.items() for text in ("--set", "=".join(item)))) as server:
        select = ("--include-path-regex", "^/v0.1/", "--suppress-health-check", "filter_too_much")
        # It warns that most generated documents are rejected.
        assert "Tested: 14" in run_schemathesis(server, token, tmp_path, *select)
        server.stop()
