"""Servers of tests: found, started, killed, and ended with the tests."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from time import sleep

import psycopg
import pytest

from . import engines

HOLD = """
from tests import engines
engine = engines.new_engine()
print(engine.pid, engine.folder, flush=True)
input()
"""


def test_a_server_ends_with_tests_that_are_killed() -> None:
    if engines.binaries() is None:
        engines.new_engine()  # Skips or fails.
    root = Path(__file__).parent.parent
    with subprocess.Popen(
        [sys.executable, "-c", HOLD], cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as tests:
        assert tests.stdout
        pid, folder = tests.stdout.readline().split()
        os.kill(int(pid), 0)
        tests.kill()
    for _ in range(1_000):
        if not Path(folder).exists():
            break
        sleep(0.02)
    assert not Path(folder).exists()
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid), 0)


def test_a_killed_server_starts_again_with_its_data() -> None:
    engine = engines.new_engine(durable=True)
    try:
        with psycopg.connect(engine.conninfo) as connection:
            connection.execute("CREATE TABLE kept (n int)")
        engine.kill()
        with pytest.raises(psycopg.OperationalError):
            psycopg.connect(engine.conninfo)
        engine.start()
        with psycopg.connect(engine.conninfo) as connection:
            assert connection.execute("SELECT count(*) FROM kept").fetchone() == (0,)
    finally:
        engine.close()
    assert not engine.folder.exists()


def test_a_missing_server_skips_or_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "binaries", lambda: None)
    monkeypatch.setenv("REQUIRE_ENGINES", "1")
    with pytest.raises(pytest.fail.Exception, match="PostgreSQL is not installed"):
        engines.new_engine()
    monkeypatch.delenv("REQUIRE_ENGINES")
    with pytest.raises(pytest.skip.Exception, match="PostgreSQL is not installed"):
        engines.new_engine()
