"""Times of day that differ, jump, and were wrong for a while."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ..process.conftest import Installation, entry_line, until
from ._upstream import configured, sync, upstream
from .conftest import HEARTBEAT, LIMIT, Faults, goes_on, is_exact, spent, stream

pytestmark = pytest.mark.process

HOURS = 3_600
YEARS = 365 * 24 * HOURS


def test_processes_whose_clocks_are_hours_apart_share_an_exact_quota(
    installation: Installation, library: Path, tmp_path: Path
) -> None:
    key = installation.new_key()
    ahead, behind = Faults(library, tmp_path / "ahead"), Faults(library, tmp_path / "behind")
    ahead.begin("clock", "-", 2 * HOURS)
    behind.begin("clock", "-", -2 * HOURS)
    with (
        ahead.serve(installation) as one,
        behind.serve(installation) as other,
        ThreadPoolExecutor(8) as pool,
    ):
        clients = [one, other] * (LIMIT + 1)
        statuses = list(pool.map(lambda server: server.search("a", key).status, clients))
        assert sorted(statuses) == [200] * LIMIT + [401] * (len(clients) - LIMIT)
        assert spent(installation) == LIMIT
        for server in (one, other):
            assert "Traceback" not in server.stop()


def test_a_clock_that_jumps_under_a_server(installation: Installation, faults: Faults) -> None:
    key = installation.new_key()
    with faults.serve(installation, *HEARTBEAT) as server, stream(server, key) as opened:
        for spent_now, shift in enumerate((0, 2 * HOURS, -2 * HOURS, 2 * YEARS, -2 * YEARS), 1):
            faults.begin("clock", "-", shift)
            assert server.search("a", key).status == 200
            goes_on(server, key, opened)
            installation.command("import", "-", stdin=entry_line(f"a.example/{spent_now}"))
            until(lambda: server.entry_count() == spent_now, "the import")  # noqa: B023
        faults.end()
        is_exact(server, key, 5)
        assert "Traceback" not in server.stop()
    # A start with the right time gives nothing back.
    with installation.serve() as server:
        is_exact(server, key, LIMIT)


def test_an_upstream_that_was_followed_with_a_clock_years_ahead(installation: Installation, faults: Faults) -> None:
    with upstream() as other:
        other.names = ["x/before"]
        file = configured(installation, other)
        faults.begin("clock", "-", 2 * YEARS)
        assert sync(installation, file, env=faults.env).returncode == 0
        faults.end()
        other.names.append("x/after")
        with installation.serve("-c", file) as server:
            # The run may have ended before the first look: its time lay two years ahead, so it was due at once.
            until(lambda: server.entry_count() == 2, "a sync run")
            assert "Traceback" not in server.stop()
