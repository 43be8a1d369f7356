"""Hostile upstreams of a running server: requests in the meantime, log lines and recovery."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from ..process.conftest import Installation, Server, until
from ._upstream import configured, sync, upstream
from .conftest import HEARTBEAT, assert_spent, assert_uncharged_requests_work, log_lines, open_stream

pytestmark = pytest.mark.process

FAULTS = {
    "headers": "It sent more than 65,536 bytes of headers.",
    "values": "It sent a page of more than 250,000 JSON values.",
    "endless": "It exceeds its limits, max_entries = 500",
}
"""Faults of the registry, and their log lines."""

GROWTH = 150
"""Limit of the growth of the server's memory, in megabytes; unbounded headers took 2,000."""


def memory(server: Server) -> int:
    """Return the peak resident memory of the server in megabytes (VmHWM of proc_pid_status(5))."""
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) // 1024


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
def test_hostile_upstreams_do_not_affect_requests_or_other_upstreams(installation: Installation) -> None:
    key = installation.new_key()
    with upstream() as valid, upstream() as headers, upstream() as values, upstream() as endless:
        valid.names = ["a/valid"]
        headers.fault, values.fault, endless.fault = FAULTS
        file = configured(installation, valid, headers, values, endless)
        with (
            installation.serve("-c", file, "--set", "http.health=full", *HEARTBEAT) as server,
            open_stream(server, key) as connection,
        ):
            before = memory(server)

            def states() -> Counter[str]:
                return Counter(each["status"] for each in server.request("/healthz").json["upstreams"].values())

            def first_runs_have_ended() -> bool:
                assert_uncharged_requests_work(server, key, connection)
                return states() == {"ok": 1, "failing": 3}

            until(first_runs_have_ended, "the end of the first sync runs")
            # The endless upstream is stored up to its limit of 500 entries.
            until(lambda: server.entry_count() == 501, "the entries")
            assert [server.search("valid", key).status for _ in range(3)] == [200] * 3
            assert memory(server) - before < GROWTH
            for name, each in {"b/headers": headers, "b/values": values}.items():
                each.fault, each.names = "", [name]
            # The server retries after a minute, unless the command syncs first. While one syncs, the other fails.
            for name in ("u1", "u2"):
                until(lambda: sync(installation, file, name).returncode == 0, f"the sync of {name}")  # noqa: B023
            until(lambda: server.entry_count() == 503, "the entries of the sync runs")
            assert installation.command("status").count("since then; the last error:") == 1
            assert_spent(server, key, 3)
            log = server.stop()
    for number, reason in enumerate(FAULTS.values(), 1):
        assert log_lines(log, f"Upstream u{number}: {reason}")
