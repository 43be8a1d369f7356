"""A foreign writer that keeps its lock for long: the log, the readiness, the recovery."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from ..process.conftest import Installation, entry_line, until
from .conftest import HEARTBEAT, goes_on, is_exact, logged, recovers, rejects_charges, stream

pytestmark = pytest.mark.process


def test_a_lock_of_the_quota_that_lasts_is_logged_once_and_its_end_too(installation: Installation) -> None:
    key, path = installation.new_key(), installation.data / "quota.db"
    with (
        installation.serve(*HEARTBEAT) as server,
        stream(server, key) as opened,
        closing(sqlite3.connect(path, isolation_level=None)) as writer,
    ):
        assert server.search("a", key).status == 200
        writer.execute("BEGIN EXCLUSIVE")
        for _ in range(2):
            rejects_charges(server, key)
            goes_on(server, key, opened)
        until(lambda: server.request("/readyz").status == 503, "a fault")
        writer.execute("ROLLBACK")
        recovers(server)
        is_exact(server, key, 1)
        log = server.stop()
    begun = logged(log, "Storage unavailable")
    assert len(set(begun)) == len(begun)
    assert len(logged(log, "Storage available again")) >= 1
    assert "Traceback" not in log


def test_a_lock_of_the_catalogue_delays_an_import_and_nothing_else(installation: Installation) -> None:
    key = installation.new_key()
    with (
        installation.serve(*HEARTBEAT) as server,
        stream(server, key) as opened,
        closing(sqlite3.connect(installation.data / "directory.db", isolation_level=None)) as writer,
    ):
        writer.execute("BEGIN EXCLUSIVE")
        importing = installation.start_import()
        assert importing.stdin is not None
        importing.stdin.write(entry_line("a.example/one").encode())
        importing.stdin.close()
        goes_on(server, key, opened)
        assert [server.search("a", key).status for _ in range(3)] == [200] * 3
        assert importing.poll() is None
        writer.execute("ROLLBACK")
        assert importing.wait(30) == 0
        until(lambda: server.entry_count() == 1, "the import")
        is_exact(server, key, 3)
        assert "Traceback" not in server.stop()
