"""The quota of two processes while the server is killed and stopped. FAULTS=all repeats each failure more often."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from time import sleep
from typing import IO

import pytest

from directory_server.postgres import Database
from directory_server.runtime.run_sync import run_sync

from .. import engines
from ..engines import Engine

ROOT = Path(__file__).parent.parent.parent
REPEATED = os.environ.get("FAULTS") == "all"

KEYS, LIMIT = 20, 200

pytestmark = pytest.mark.process


@pytest.fixture
def durable_engine() -> Iterator[Engine]:
    """Return a server of its own that syncs its files, with our schema."""
    # A default that would lose commits: connections must override it.
    engine = engines.new_engine(durable=True, settings={"synchronous_commit": "off"})
    database = Database(engine.conninfo)
    run_sync(database.upgrade())
    database.close()
    yield engine
    engine.close()


class Chargers:
    """Two processes that charge the same keys."""

    def __init__(self, engine: Engine) -> None:
        command = [sys.executable, "-m", "tests.postgres.charger", engine.conninfo, str(KEYS), str(LIMIT), "16"]
        self._processes = [subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) for _ in range(2)]
        self._hundreds = threading.Semaphore(0)
        self.acknowledged: Counter[str] = Counter()
        self.failed = 0
        self._threads = [threading.Thread(target=self._read, args=(process.stdout,)) for process in self._processes]
        for thread in self._threads:
            thread.start()

    def wait_for(self, hundreds: int) -> None:
        """Wait until that many more hundreds of charges are acknowledged."""
        for _ in range(hundreds):
            assert self._hundreds.acquire(timeout=60)

    def finish(self) -> None:
        """Wait until all keys are used up."""
        for thread in self._threads:
            thread.join()
        assert [process.wait(60) for process in self._processes] == [0, 0]

    def end(self) -> None:
        for process in self._processes:
            process.kill()
            process.wait()
        for thread in self._threads:
            thread.join()

    def _read(self, lines: IO[str]) -> None:
        for line in lines:
            match line.split():
                case ["100"]:
                    self._hundreds.release()
                case ["failed", count]:
                    self.failed += int(count)
                case [key_id, count]:
                    self.acknowledged[key_id] += int(count)
        lines.close()


def kill(engine: Engine) -> None:
    engine.kill()
    engine.start()


def stop_for_some_seconds(engine: Engine) -> None:
    engine.pause()
    sleep(3)  # Longer than the silence after which a session counts as lost.
    engine.resume()


@pytest.mark.parametrize(
    ("fail", "times"),
    [(kill, 20 if REPEATED else 2), (stop_for_some_seconds, 10 if REPEATED else 1)],
    ids=["killed", "stopped"],
)
def test_no_acknowledged_charge_is_lost_and_no_key_exceeds_its_limit(
    durable_engine: Engine, fail: Callable[[Engine], None], times: int
) -> None:
    chargers = Chargers(durable_engine)
    try:
        for _ in range(times):
            chargers.wait_for(KEYS * LIMIT // 100 // (times + 2))
            fail(durable_engine)
        chargers.finish()
    finally:
        chargers.end()
    database = Database(durable_engine.conninfo)
    rows = run_sync(database.run("SELECT key, count(*), max(n) FROM spent GROUP BY key"))
    database.close()
    assert {key: (count, newest) for key, count, newest in rows} == {
        f"key-{number}": (LIMIT, LIMIT) for number in range(KEYS)
    }
    # All keys are used up: an acknowledged charge that is lost would have been admitted a second time.
    assert max(chargers.acknowledged.values()) <= LIMIT
    # Charges of unknown fate stay spent.
    assert chargers.failed > 0
    assert KEYS * LIMIT - chargers.acknowledged.total() <= chargers.failed
