"""Faults of the database, the network and the processes under load: nothing is lost, and all recover by themselves.

FAULTS=all repeats each fault more often. Each fault prints its recovery time: the seconds from its end until all
servers have admitted a charge.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from ..engines import Engine
from ..faults.conftest import ALL
from ..process.conftest import until
from ._machines import DETECTION, NAMES, RECOVERY, Machines, health, running_machines
from ._workload import Workload

pytestmark = pytest.mark.process

_END_CONNECTIONS = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'directory-server'"


@pytest.fixture
def machines(tmp_path: Path, engine: Engine) -> Iterator[Machines]:
    # Its default, synchronous_commit = off, would lose commits: connections must override it.
    engine.renew()
    with running_machines(engine, tmp_path) as machines:
        yield machines


def database_killed(machines: Machines, workload: Workload) -> None:
    machines.engine.kill()
    machines.wait_until_away()
    machines.engine.start()


def database_stopped(machines: Machines, workload: Workload) -> None:
    machines.engine.pause()
    try:
        machines.wait_until_away()
    finally:
        machines.engine.resume()


def connections_ended(machines: Machines, workload: Workload) -> None:
    with psycopg.connect(machines.engine.conninfo, autocommit=True) as connection:
        connection.execute(_END_CONNECTIONS)


def machine_cut_off(machines: Machines, workload: Workload) -> None:
    one, two = machines.servers
    machines.networks[0].cut()
    until(lambda: health(one) == "away", "the cut is reported", DETECTION)
    assert workload.recovered(two) < RECOVERY
    assert health(two) == "available"
    machines.networks[0].heal()


def network_silent(machines: Machines, workload: Workload) -> None:
    one, two = machines.servers
    machines.networks[0].fall_silent()
    until(lambda: health(one) == "away", "the silence is reported", DETECTION)
    assert workload.recovered(two) < RECOVERY
    machines.networks[0].heal()


def process_killed(machines: Machines, workload: Workload) -> None:
    victim = machines.servers[0]
    victim.process.send_signal(signal.SIGKILL)
    victim.process.wait()
    assert workload.recovered(machines.servers[1]) < RECOVERY
    # The readers and callers use the same list.
    machines.servers[:] = [machines.servers[1], machines.start(NAMES.index(victim.log.parent.name))]
    workload.servers[:] = machines.servers


FAULTS: list[tuple[Callable[[Machines, Workload], None], int]] = [
    (database_killed, 20),
    (database_stopped, 10),
    (connections_ended, 10),
    (machine_cut_off, 10),
    (network_silent, 5),
    (process_killed, 20),
]
"""Faults, and how often each is repeated with FAULTS=all."""


def test_nothing_is_lost_or_doubled_and_all_servers_recover(machines: Machines) -> None:
    with Workload(list(machines.servers), machines.engine.conninfo) as workload:
        for fault, times in FAULTS:
            took = []
            for _ in range(times if ALL else 1):
                fault(machines, workload)
                took.append(workload.recovered(timeout=RECOVERY))
                machines.wait_until_available()
            took.sort()
            print(f"{fault.__name__}: {len(took)} times, charges after {took[len(took) // 2]:.2f} s, {took[-1]:.2f} s")
        workload.finish()
        workload.check_charges()
        workload.check_changes()
        print(f"{workload.acknowledged.total():,} charges, {workload.unknown.total()} failed,", end=" ")
        print(f"{len(workload.log()):,} changes, {sum(each.connections for each in workload.readers)} streams")
    log = machines.log()
    assert "Database unavailable: it does not respond" in log
    assert "Database available again (it does not respond ended)" in log
    assert "no answer for 2 seconds" in log
    machines.check_logs()
