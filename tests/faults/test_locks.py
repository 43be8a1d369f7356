"""Another program that locks a database for long: log, readiness and recovery."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from ..process.conftest import Installation, entry_line, until
from .conftest import (
    HEARTBEAT,
    assert_charges_rejected,
    assert_spent,
    assert_uncharged_requests_work,
    log_lines,
    open_stream,
    wait_until_ready,
)

pytestmark = pytest.mark.process


def test_long_lock_of_the_quota_is_logged_with_its_end(installation: Installation) -> None:
    key, path = installation.new_key(), installation.data / "quota.db"
    with (
        installation.serve(*HEARTBEAT) as server,
        open_stream(server, key) as connection,
        closing(sqlite3.connect(path, isolation_level=None)) as writer,
    ):
        assert server.search("a", key).status == 200
        writer.execute("BEGIN EXCLUSIVE")
        for _ in range(2):
            assert_charges_rejected(server, key)
            assert_uncharged_requests_work(server, key, connection)
        until(lambda: server.request("/readyz").status == 503, "a fault")
        writer.execute("ROLLBACK")
        wait_until_ready(server)
        assert_spent(server, key, 1)
        log = server.stop()
    beginnings = log_lines(log, "Storage unavailable")
    assert len(set(beginnings)) == len(beginnings)
    assert len(log_lines(log, "Storage available again")) >= 1


def test_lock_of_the_catalogue_delays_only_imports(installation: Installation) -> None:
    key = installation.new_key()
    with (
        installation.serve(*HEARTBEAT) as server,
        open_stream(server, key) as connection,
        closing(sqlite3.connect(installation.data / "directory.db", isolation_level=None)) as writer,
    ):
        writer.execute("BEGIN EXCLUSIVE")
        importing = installation.start_import()
        assert importing.stdin is not None
        importing.stdin.write(entry_line("a.example/one").encode())
        importing.stdin.close()
        assert_uncharged_requests_work(server, key, connection)
        assert [server.search("a", key).status for _ in range(3)] == [200] * 3
        assert importing.poll() is None
        writer.execute("ROLLBACK")
        assert importing.wait(30) == 0
        until(lambda: server.entry_count() == 1, "the import")
        assert_spent(server, key, 3)
        server.stop()
