"""Faults of charges while the database answers otherwise: they are reported, harm nothing else, and end."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import psycopg
import pytest

from ..engines import Engine
from ..process.conftest import Server, entry_line, until
from ._machines import DETECTION, RECOVERY, Machines, health, running_machines
from ._network import Network
from .conftest import Cluster

pytestmark = pytest.mark.process

SAMPLES = 12
"""Requests of a fault, and looks at the reported state between them."""

LIMIT = 1_000_000
"""Requests an hour of a key. A fast machine sends over 1,000 while a test waits."""

_SESSIONS = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'directory-server'"


@pytest.fixture(scope="module")
def machines(tmp_path_factory: pytest.TempPathFactory, engine: Engine) -> Iterator[Machines]:
    """Return a server that all tests of the module share."""
    engine.renew()
    with running_machines(engine, tmp_path_factory.mktemp("machines"), 1) as machines:
        machines.cluster.command("import", "-", stdin=entry_line("a.example/rain", "It rains."))
        until(lambda: machines.servers[0].entry_count() == 1, "the entry")
        yield machines


def connect(machines: Machines) -> psycopg.Connection[tuple[object, ...]]:
    return psycopg.connect(machines.engine.conninfo)


def execute(machines: Machines, *statements: str) -> None:
    with psycopg.connect(machines.engine.conninfo, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)


def assert_away(server: Server, secret: str) -> None:
    """Assert that charges fail, and that the database stays away whatever other statements succeed."""
    until(lambda: server.search("rain", secret).status == 503, "charges fail", DETECTION)
    until(lambda: health(server) == "away", "the fault is reported", DETECTION)
    for _ in range(SAMPLES):
        response = server.search("rain", secret)
        assert (response.status, response.headers["Retry-After"]) == (503, "1")
        assert server.request("/readyz").status == 200
        assert health(server) == "away"
        time.sleep(0.1)


def assert_comes_back(server: Server, secret: str) -> None:
    """Assert that the fault ends although no request is charged, and that charges then succeed."""
    until(lambda: health(server) == "available", "the end of the fault", RECOVERY)
    assert server.search("rain", secret).status == 200


def test_while_no_standby_confirms_charges_the_database_is_away(machines: Machines) -> None:
    (server,), key = machines.servers, machines.cluster.new_key("--limit", LIMIT)
    assert server.search("rain", key).status == 200
    execute(machines, "ALTER SYSTEM SET synchronous_standby_names = 'nobody'", "SELECT pg_reload_conf()")
    assert_away(server, key)
    # No session is left behind for each charge: all but one wait for the lock of the trial, and end.
    with connect(machines) as connection:
        (count,) = connection.execute(_SESSIONS).fetchone() or (None,)
    assert isinstance(count, int)
    assert count < SAMPLES
    execute(machines, "ALTER SYSTEM RESET synchronous_standby_names", "SELECT pg_reload_conf()")
    assert_comes_back(server, key)


def test_a_lock_on_spent_quota_is_reported_and_harms_no_request_without_a_charge(machines: Machines) -> None:
    (server,), key = machines.servers, machines.cluster.new_key("--limit", LIMIT)
    free = machines.cluster.new_key("--limit", "unlimited")
    assert [server.search("rain", secret).status for secret in (key, free)] == [200, 200]
    with connect(machines) as connection:
        connection.execute("LOCK TABLE spent IN SHARE MODE")
        assert_away(server, key)
        assert [server.search("rain", free).status for _ in range(SAMPLES)] == [200] * SAMPLES
    assert_comes_back(server, key)


@pytest.mark.parametrize("table", ["change", "record", "pulse"])
def test_a_lock_on_another_table_holds_no_charge(machines: Machines, table: str) -> None:
    (server,) = machines.servers
    keys = [machines.cluster.new_key("--limit", LIMIT) for _ in range(3)]
    assert {server.search("rain", key).status for key in keys} == {200}
    with connect(machines) as connection:
        connection.execute(f"LOCK TABLE {table} IN {'SHARE' if table == 'pulse' else 'ACCESS EXCLUSIVE'} MODE")
        # After 2 seconds a statement that waits for the lock counts as unanswered.
        end = time.monotonic() + 3.0
        while time.monotonic() < end:
            assert {server.search("rain", key).status for key in keys} == {200}
            assert health(server) == "available"


@pytest.fixture
def role(cluster: Cluster) -> Iterator[tuple[Cluster, Server, Callable[[str], None]]]:
    """Yield a server whose role is no superuser, and a function that runs statements with all rights."""
    engine = cluster.engine
    network = Network(engine.folder, user="directory")

    def run(statement: str) -> None:
        with psycopg.connect(engine.conninfo, autocommit=True) as connection:
            connection.execute(statement)

    try:
        run("CREATE ROLE directory LOGIN")
        cluster.command("database", "upgrade")
        for kind in ("TABLES", "SEQUENCES"):
            run(f"GRANT ALL ON ALL {kind} IN SCHEMA public TO directory")
        with cluster.serve("one", "--set", "web.search=public", database=network.conninfo) as server:
            yield cluster, server, run
    finally:
        network.close()


def test_missing_rights_are_503_with_few_log_lines_and_everything_goes_on_after_the_grant(
    role: tuple[Cluster, Server, Callable[[str], None]],
) -> None:
    cluster, server, run = role
    key = cluster.new_key("--limit", LIMIT)
    until(lambda: "process " in cluster.command("status"), "the process is reported")
    assert server.search("rain", key).status == 200
    run("REVOKE ALL ON ALL TABLES IN SCHEMA public FROM directory")
    assert_away(server, key)
    assert server.search("rain", cluster.new_key("--limit", "unlimited")).status == 503
    # A report of the process fails meanwhile.
    run("TRUNCATE node")
    until(lambda: "This process cannot be reported" in server.log.read_text(), "a failed report")
    run("GRANT ALL ON ALL TABLES IN SCHEMA public TO directory")
    assert_comes_back(server, key)
    until(lambda: "process " in cluster.command("status"), "the process is reported again")
    log = server.stop()
    assert "Database unavailable: the role lacks rights on its tables (permission denied for " in log
    assert "Database available again (the role lacks rights on its tables ended)" in log
    # Each part of the server that waits says so once.
    lines = [line.partition(" [")[2] for line in log.splitlines() if "lacks rights" in line]
    assert len(lines) == len(set(lines))
    assert "#critical" not in log
