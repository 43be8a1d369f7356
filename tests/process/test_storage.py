"""Storage failures of a running server: log, responses and recovery."""

from __future__ import annotations

import resource
import sys

import pytest

from .conftest import MCP, Installation, Server, until

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="prlimit(2) is Linux's"),
]


def limit_files(server: Server, size: int) -> None:
    """Limit the files of the server to `size` bytes: writes beyond fail (setrlimit(2), RLIMIT_FSIZE)."""
    assert sys.platform == "linux"
    _, hard = resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (size, hard))


def test_charges_fail_while_the_quota_database_cannot_grow(installation: Installation) -> None:
    key = installation.new_key("--limit", 100_000)
    with installation.serve("--set", "metrics.listen=tcp:0:interface=127.0.0.1") as server:
        until(lambda: server.request("/readyz").json == {"status": "ready"}, "the start")
        limit_files(server, 40_960)
        until(lambda: server.search("x", key).status == 503, "a failed write")
        assert server.call_tool("search_mcp", {"keywords": "x"}, key)["isError"] is True
        assert server.request("/healthz").status == 200
        not_ready = server.request("/readyz")
        assert (not_ready.status, not_ready.json["reasons"]) == (503, ["storage"])
        metrics = server.metrics_text()
        assert 'directory_storage_available{file="quota.db"} 0.0' in metrics
        assert f'directory_errors_total{{api="{MCP}",code="unavailable"}} 1.0' in metrics
        limit_files(server, resource.RLIM_INFINITY)
        until(lambda: server.request("/readyz").status == 200, "the recovery")
        assert server.search("x", key).status == 200
        log = server.stop()
    path = installation.data / "quota.db"
    lines = [line.partition("] ")[2] for line in log.splitlines() if "Storage" in line]
    assert lines == [
        f"Storage unavailable: {path}: the disk cannot be read or written (SQLITE_IOERR_WRITE)",
        f"Storage available again: {path} (SQLITE_IOERR_WRITE ended)",
    ]
    assert f"POST {MCP} 200 " in log
    assert " error=unavailable" in log
