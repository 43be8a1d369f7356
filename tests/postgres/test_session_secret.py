"""The session secret that all processes share."""

from __future__ import annotations

from directory_server.postgres import session_secret
from directory_server.runtime.run_sync import run_sync

from ..sqlite.conftest import run_concurrently
from .conftest import Open


def test_processes_that_start_together_have_one_session_secret(open_database: Open) -> None:
    processes = [open_database() for _ in range(6)]
    secrets: list[bytes] = []
    run_concurrently(lambda number: secrets.append(run_sync(session_secret(processes[number]))), 6)
    assert len(secrets) == 6
    assert len(set(secrets)) == 1
    assert len(secrets[0]) == 32
    assert run_sync(session_secret(open_database())) == secrets[0]
