"""A hostile upstream under a running server: what goes on, what is logged, and the recovery."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from ..process.conftest import Installation, Server, until
from ._upstream import configured, sync, upstream
from .conftest import HEARTBEAT, goes_on, is_exact, logged, stream

pytestmark = pytest.mark.process

FAULTS = {
    "headers": "It sent more than 65,536 bytes of headers.",
    "values": "It sent a page of more than 250,000 JSON values.",
    "endless": "It exceeds its limits, max_entries = 500",
}
"""What the registry does, and what is logged of it."""

GROWTH = 150
"""Megabytes by which the memory of the server may grow; a flood of headers took 2,000 before it was bounded."""


def memory(server: Server) -> int:
    """Return the largest resident memory that a server has had, in megabytes (VmHWM of proc_pid_status(5))."""
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) // 1024


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
def test_hostile_upstreams_beside_a_sound_one(installation: Installation) -> None:
    key = installation.new_key()
    with upstream() as sound, upstream() as headers, upstream() as values, upstream() as endless:
        sound.names = ["a/sound"]
        headers.fault, values.fault, endless.fault = FAULTS
        file = configured(installation, sound, headers, values, endless)
        with (
            installation.serve("-c", file, "--set", "http.health=full", *HEARTBEAT) as server,
            stream(server, key) as opened,
        ):
            before = memory(server)

            def states() -> Counter[str]:
                return Counter(each["status"] for each in server.request("/healthz").json["upstreams"].values())

            while states() != {"ok": 1, "failing": 3}:
                goes_on(server, key, opened)
            # Of the endless one, 500 are stored.
            until(lambda: server.entry_count() == 501, "the entries")
            assert [server.search("sound", key).status for _ in range(3)] == [200] * 3
            assert memory(server) - before < GROWTH
            for name, each in {"b/headers": headers, "b/values": values}.items():
                each.fault, each.names = "", [name]
            # The next attempt of the server's own comes after a minute; an operator need not wait.
            for name in ("u1", "u2"):
                assert sync(installation, file, name).returncode == 0
            until(lambda: server.entry_count() == 503, "what the sync runs brought")
            assert installation.command("status").count("sync runs since then") == 1
            is_exact(server, key, 3)
            log = server.stop()
    for number, reason in enumerate(FAULTS.values(), 1):
        assert len(logged(log, f"Upstream u{number}: {reason}")) == 1
    assert "Traceback" not in log
