"""Wall clocks that differ, jump, or were wrong in the past."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ..process.conftest import Installation, entry_line, until
from ._upstream import configured, sync, upstream
from .conftest import HEARTBEAT, LIMIT, Faults, assert_spent, assert_uncharged_requests_work, charge_count, open_stream

pytestmark = pytest.mark.process

HOURS = 3_600
YEARS = 365 * 24 * HOURS


def test_quota_is_exact_across_processes_with_different_clocks(
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
        assert charge_count(installation) == LIMIT
        for server in (one, other):
            server.stop()


def test_quota_stays_exact_when_the_clock_jumps(installation: Installation, faults: Faults) -> None:
    key = installation.new_key()
    with faults.serve(installation, *HEARTBEAT) as server, open_stream(server, key) as connection:
        for count, shift in enumerate((0, 2 * HOURS, -2 * HOURS, 2 * YEARS, -2 * YEARS), 1):
            faults.begin("clock", "-", shift)
            assert server.search("a", key).status == 200
            assert_uncharged_requests_work(server, key, connection)
            installation.command("import", "-", stdin=entry_line(f"a.example/{count}"))
            until(lambda: server.entry_count() == count, "the import")  # noqa: B023
        faults.end()
        assert_spent(server, key, 5)
        server.stop()
    # A restart with the right time frees no quota.
    with installation.serve() as server:
        assert_spent(server, key, LIMIT)


def test_upstream_synced_with_a_clock_years_ahead_is_synced_again(installation: Installation, faults: Faults) -> None:
    with upstream() as other:
        other.names = ["x/before"]
        file = configured(installation, other)
        faults.begin("clock", "-", 2 * YEARS)
        assert sync(installation, file, env=faults.env).returncode == 0
        faults.end()
        other.names.append("x/after")
        with installation.serve("-c", file) as server:
            # The time of the last run is two years ahead, which counts as due: the first run begins at once.
            until(lambda: server.entry_count() == 2, "a sync run")
            server.stop()
