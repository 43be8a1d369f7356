"""The stop of a server on PostgreSQL: requests in progress still use its database."""

from __future__ import annotations

import signal
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from ..process.conftest import TIMEOUT, until
from ..process.test_streams import is_refused
from .conftest import Cluster

pytestmark = pytest.mark.process

WAITS_FOR_LOCK = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"


def test_a_request_that_waits_for_its_charge_is_answered(cluster: Cluster) -> None:
    key = cluster.new_key("--limit", "20")
    with (
        cluster.serve("one") as server,
        psycopg.connect(cluster.engine.conninfo, autocommit=True) as observer,
        ThreadPoolExecutor(1) as thread,
    ):
        with psycopg.connect(cluster.engine.conninfo) as other:
            # Another machine charges the same key, and its transaction is not finished.
            key_id = cluster.command("key", "list").splitlines()[-1].split()[0]
            other.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 1))", [key_id])
            searching = thread.submit(server.search, "weather", key)
            until(lambda: observer.execute(WAITS_FOR_LOCK).fetchone() == (1,), "the charge waits")
            server.process.send_signal(signal.SIGTERM)
            until(lambda: is_refused(server.port), "the end of listening")
            assert not searching.done()
        assert searching.result(TIMEOUT).status == 200
        server.process.wait(TIMEOUT)
    assert "Traceback" not in server.log.read_text()
    # The use of the key was written after the response.
    assert "127.0.0.0/24" in cluster.command("key", "list")
