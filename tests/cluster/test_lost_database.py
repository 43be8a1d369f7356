"""A database that goes back, and standbys that take over: processes end instead of serving what is gone."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from .. import engines
from ..engines import Engine
from ..faults.conftest import full_run_only
from ..process.conftest import TIMEOUT, Server, entry_line, until
from ._machines import RECOVERY, Machines, running_machines
from ._workload import Workload

pytestmark = pytest.mark.process

FEED = "/api/open/v1/changes"


@pytest.fixture
def machines(tmp_path: Path, engine: Engine) -> Iterator[Machines]:
    engine.renew()
    with running_machines(engine, tmp_path) as machines:
        yield machines


def publish(machines: Machines, *names: str) -> None:
    machines.cluster.command("import", "-", stdin="".join(entry_line(name, "It rains.") for name in names))


def names(server: Server, key: str) -> list[str]:
    """Return the names of the index, in order."""
    return sorted(server.search_names("rains", key))


def feed(server: Server, key: str, since: str) -> list[str]:
    """Return the names of the changes after `since`."""
    page = server.request(f"{FEED}?since={since}", key, Accept="application/json").json
    return [each["name"] for each in page["data"]]


def assert_all_end(machines: Machines, seq: int) -> float:
    """Wait until all servers have ended because the change `seq` is gone; return the seconds."""
    began = time.monotonic()
    for server in machines.servers:
        assert server.process.wait(TIMEOUT) == 1
    took = time.monotonic() - began
    for log in (server.log.read_text() for server in machines.servers):
        assert f"The database went back: change {seq} of the log is gone or another one" in log
        assert "The database cannot be used any more, the server stops: " in log
        assert log.count("#critical") == 2
        assert "Traceback" not in log
        assert log.rstrip().endswith("Server Shut Down.")
    machines.logs.clear()
    return took


def assert_serves(machines: Machines, key: str, expected: list[str]) -> None:
    """Start the servers again; both have the entries `expected`, and the log has no gap."""
    machines.servers[:] = [machines.start(number) for number in range(len(machines.networks))]
    assert [names(server, key) for server in machines.servers] == [expected] * len(machines.servers)
    with psycopg.connect(machines.cluster.engine.conninfo, autocommit=True) as connection:
        seqs = [seq for (seq,) in connection.execute("SELECT seq FROM change ORDER BY seq")]
    assert seqs == list(range(1, len(seqs) + 1))


def test_a_restored_backup_ends_running_servers_although_the_log_has_grown_again(machines: Machines) -> None:
    key = machines.cluster.new_key("--limit", "unlimited")
    publish(machines, "a/kept")
    backup = machines.engine.back_up()
    publish(machines, "a/lost")
    until(lambda: all(names(each, key) == ["a/kept", "a/lost"] for each in machines.servers), "the entries")
    cursor = machines.servers[0].request(f"{FEED}?since=0", key, Accept="application/json").json["next"]
    for network in machines.networks:
        network.cut()
    machines.engine.restore(backup)
    # The servers never see a shorter log: another change has the number of the lost one.
    publish(machines, "a/new", "a/newer")
    for network in machines.networks:
        network.heal()
    took = assert_all_end(machines, 2)
    assert "the log has a new id" in machines.cluster.command("after-restore")
    assert_serves(machines, key, ["a/kept", "a/new", "a/newer"])
    print(f"restored backup: the servers ended after {took:.2f} s")
    # A reader that continues on the other log starts over.
    stream = machines.servers[1].open(FEED, key, **{"Accept": "text/event-stream", "Last-Event-ID": cursor})
    while (line := stream.readline()) != b"event: reset\n":
        assert line, "the stream ended"
    stream.close()
    assert feed(machines.servers[0], key, "0") == ["a/kept", "a/new", "a/newer"]
    machines.stop_all()


def standby_of(machines: Machines) -> Engine:
    """Return a running standby of the database."""
    standby = engines.new_engine(durable=True, primary=machines.engine)
    machines.stack.callback(standby.close)
    caught_up = "SELECT replay_lsn = pg_current_wal_lsn() FROM pg_stat_replication WHERE state = 'streaming'"
    with psycopg.connect(machines.engine.conninfo, autocommit=True) as connection:
        until(lambda: connection.execute(caught_up).fetchone() == (True,), "the standby has all")
    return standby


def fail_over(machines: Machines, standby: Engine) -> None:
    """Kill the database, promote `standby`, and lead the networks of all servers to it."""
    machines.engine.kill()
    standby.promote()
    for network in machines.networks:
        network.folder = standby.folder


def test_failover_to_an_asynchronous_standby_ends_servers_that_know_what_it_lacks(machines: Machines) -> None:
    key = machines.cluster.new_key("--limit", "unlimited")
    limited = machines.cluster.new_key("--limit", 20)
    publish(machines, "a/kept")
    assert [server.search("rains", limited).status for server in machines.servers * 2] == [200] * 4
    standby = standby_of(machines)
    # The standby does not get what is committed from now on.
    with psycopg.connect(standby.conninfo, autocommit=True) as connection:
        connection.execute("ALTER SYSTEM SET primary_conninfo = ''")
        connection.execute("SELECT pg_reload_conf()")
        receivers = "SELECT count(*) FROM pg_stat_wal_receiver"
        until(lambda: connection.execute(receivers).fetchone() == (0,), "the standby receives nothing")
    publish(machines, "a/lost")
    until(lambda: all(names(each, key) == ["a/kept", "a/lost"] for each in machines.servers), "the entries")
    fail_over(machines, standby)
    took = assert_all_end(machines, 2)
    machines.cluster = type(machines.cluster)(standby, machines.cluster.folder)
    assert_serves(machines, key, ["a/kept"])
    print(f"asynchronous fail-over: the servers ended {took:.2f} s after the promotion")
    publish(machines, "a/new")
    until(lambda: all(names(each, key) == ["a/kept", "a/new"] for each in machines.servers), "the new entry")
    statuses = [machines.servers[number % 2].search("rains", limited).status for number in range(20)]
    assert statuses == [200] * 16 + [401] * 4
    machines.stop_all()


@full_run_only
def test_failover_to_a_synchronous_standby_loses_nothing(machines: Machines) -> None:
    standby = standby_of(machines)
    with psycopg.connect(machines.engine.conninfo, autocommit=True) as connection:
        connection.execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
        connection.execute("SELECT pg_reload_conf()")
        is_synchronous = "SELECT sync_state FROM pg_stat_replication"
        until(lambda: connection.execute(is_synchronous).fetchone() == ("sync",), "the standby is synchronous")
    with Workload(list(machines.servers), machines.networks[0].conninfo) as workload:
        fail_over(machines, standby)
        took = workload.recovered(timeout=2 * RECOVERY)
        workload.finish()
        workload.check_charges()
        workload.check_changes()
    machines.stop_all()
    print(f"synchronous fail-over: charges {took:.2f} s after the promotion")
