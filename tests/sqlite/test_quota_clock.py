"""Quota clock: one time for all processes, across restarts and changes of the system time."""

from __future__ import annotations

import pytest

from directory_server.domain.ports.runtime import MachineTime
from directory_server.runtime.run_sync import run_sync
from directory_server.sqlite import Database, SqliteQuota, quota_clock

from ..conftest import Open

NOW = 1_700_000_000.0


def machine(wall: float = NOW, uptime: float = 100.0, boot: str = "a") -> MachineTime:
    return MachineTime(lambda: wall, lambda: uptime, boot)


def test_starts_at_the_system_time_and_advances_with_the_uptime(quota_database: Database) -> None:
    uptime = [100.0]
    now = quota_clock(quota_database, MachineTime(lambda: NOW, lambda: uptime[0], "a"))
    assert now() == NOW
    uptime[0] = 103.5
    assert now() == NOW + 3.5


@pytest.mark.parametrize("boot", ["a", ""])
def test_is_the_same_for_processes_with_different_system_times(open_database: Open, boot: str) -> None:
    for wall, uptime in ((NOW, 100.0), (NOW + 7200, 101.0), (NOW - 7200, 102.0)):
        assert quota_clock(open_database("quota"), machine(wall, uptime, boot))() == NOW + uptime - 100


def test_a_boot_sets_a_new_origin(quota_database: Database) -> None:
    quota_clock(quota_database, machine())
    assert quota_clock(quota_database, machine(NOW + 500, 3.0, "b"))() == NOW + 500
    assert quota_clock(quota_database, machine(NOW + 9999, 4.0, "b"))() == NOW + 501


@pytest.mark.parametrize("boot", ["b", ""])
def test_never_starts_before_the_latest_charge(quota_database: Database, boot: str) -> None:
    first = "a" if boot else ""
    run_sync(SqliteQuota(quota_database, quota_clock(quota_database, machine(boot=first))).charge("k", 5))
    again = quota_clock(quota_database, machine(NOW - 7200, 3.0, boot))
    assert again() == NOW
    assert run_sync(SqliteQuota(quota_database, again).peek("k", 5)).reset == 3600


def test_without_boot_ids_a_plausible_uptime_continues_the_same_boot(quota_database: Database) -> None:
    run_sync(SqliteQuota(quota_database, quota_clock(quota_database, machine(boot=""))).charge("k", 5))
    assert quota_clock(quota_database, machine(NOW + 86_400, 250.0, ""))() == NOW + 150


def test_only_reads_if_the_origin_exists(quota_database: Database, open_database: Open) -> None:
    quota_clock(quota_database, machine())
    with open_database("quota").transaction():
        quota_clock(quota_database, machine(uptime=101.0))


def test_last_returns_the_system_time(quota_database: Database) -> None:
    wall = [NOW]
    quota = SqliteQuota(quota_database, quota_clock(quota_database, machine()), wall=lambda: wall[0])
    run_sync(quota.charge("k", 5))
    wall[0] += 7200
    assert run_sync(quota.last("k")) == NOW + 7200
    assert run_sync(quota.last("another")) is None
