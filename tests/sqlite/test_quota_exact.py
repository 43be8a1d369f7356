"""Property tests: the quota is exact in any hour with several processes, restarts and wrong clocks."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from attrs import define
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test
from twisted.internet.task import Clock

from directory_server.domain.errors import QuotaExceeded
from directory_server.domain.ports.runtime import MachineTime
from directory_server.domain.quota import Allowance
from directory_server.runtime.run_sync import inline, run_sync
from directory_server.sqlite import Database, SqliteQuota, quota_clock
from directory_server.sqlite._transactions import TransactionQueue

pytestmark = pytest.mark.slow

WINDOW = 3600
START = 1_000_000_000.0

# Durations in seconds near the edges of the window, and any others.
SPANS = st.sampled_from([0.0, 0.25, 1.0, 1199.75, 1200.0, 1800.0, 3599.75, 3600.0]) | st.floats(0, 2 * WINDOW)

# Errors and changes of the system time in seconds.
STEPS = st.sampled_from([0.0, 0.0, 5.0, -5.0, 4000.0, -1800.0, -4000.0, 7200.0])


def try_charge(quota: SqliteQuota, key_id: str, limit: int) -> tuple[bool, Allowance]:
    """Charge one request; return whether it was admitted, and the allowance."""
    try:
        return True, run_sync(quota.charge(key_id, limit))
    except QuotaExceeded as rejected:
        return False, rejected.allowance


def _served(database: Database) -> Database:
    """Return `database` as a server has it, whose charges are grouped."""
    database.queue = TransactionQueue("quota.db", database.transaction, Clock(), inline)
    return database


@settings(derandomize=True, deadline=None, max_examples=60)
@given(
    limit=st.integers(1, 4),
    charges=st.lists(st.tuples(SPANS, st.integers(0, 1), st.booleans()), max_size=25),
)
def test_admits_exactly_the_limit_in_any_hour(limit: int, charges: list[tuple[float, int, bool]]) -> None:
    now, admitted = START, list[float]()
    with TemporaryDirectory() as folder:
        databases = [_served(Database(Path(folder), "quota")) for _ in range(2)]
        quotas = [SqliteQuota(database, lambda: now) for database in databases]
        for span, process, prune in charges:
            now += span
            if prune:
                run_sync(quotas[process].prune())
            last_hour = sum(now - WINDOW < at for at in admitted)
            if try_charge(quotas[process], "k", limit)[0]:
                assert last_hour < limit
                admitted.append(now)
            else:
                assert last_hour == limit
        for database in databases:
            database.close()


@define
class AdmittedRequest:
    """An admitted request. It is `expired` once the clock of any process has seen it leave the window."""

    at: float
    expired: bool = False


class Processes(RuleBasedStateMachine):
    """Two processes with arbitrary system times, on a machine that may reboot.

    A restart of a process changes no age of a request, even if the system time changes. After a reboot the system time
    determines the ages, but time never goes back behind the latest charge. A request that had expired before the system
    time was set back may count again, unless it has been pruned.
    """

    def __init__(self) -> None:
        super().__init__()
        self.folder = TemporaryDirectory()
        self.requests: dict[str, list[AdmittedRequest]] = {"a": [], "b": []}
        self.wall = START
        self.uptime = 50.0
        self.boot = 1
        self.now = START
        self.databases: list[Database] = []

    @initialize()
    def start(self) -> None:
        self._open()

    @rule(span=SPANS)
    def advance(self, span: float) -> None:
        for clock in ("wall", "uptime", "now"):
            setattr(self, clock, getattr(self, clock) + span)
        self._mark_expired()

    @rule(process=st.integers(0, 1), key=st.sampled_from("ab"), limit=st.sampled_from([1, 2, 3, 3, 3, 5]))
    def charge(self, process: int, key: str, limit: int) -> None:
        requests = self.requests[key]
        possible = sorted(request.at for request in requests if request.at > self.now - WINDOW)
        certain = sorted(request.at for request in requests if request.at > self.now - WINDOW and not request.expired)
        admitted, allowance = try_charge(self.quotas[process], key, limit)
        if not admitted:
            assert len(possible) >= limit
            if possible == certain:
                assert allowance.reset == pytest.approx(certain[-limit] + WINDOW - self.now, abs=1.001)
            assert allowance.remaining == 0
        else:
            assert len(certain) < limit
            assert allowance.remaining is not None
            assert limit - len(possible) <= allowance.remaining + 1 <= limit - len(certain)
            requests.append(AdmittedRequest(self.now))
            self._mark_expired()

    @rule(process=st.integers(0, 1), keys=st.integers(1, 3))
    def prune(self, process: int, keys: int) -> None:
        run_sync(self.quotas[process].prune(keys))

    @rule(steps=st.tuples(STEPS, STEPS))
    def restart(self, steps: tuple[float, float]) -> None:
        self._close()
        self._open(steps)

    @rule(step=STEPS, off=SPANS)
    def reboot(self, step: float, off: float) -> None:
        self._close()
        self.wall += off + step
        self.uptime, self.boot = 10.0, self.boot + 1
        self.now = max([self.wall, *(request.at for requests in self.requests.values() for request in requests)])
        self._open()
        self._mark_expired()

    def teardown(self) -> None:
        self._close()
        self.folder.cleanup()

    def _open(self, steps: tuple[float, float] = (0.0, 0.0)) -> None:
        self.databases = [_served(Database(Path(self.folder.name), "quota")) for _ in range(2)]
        self.quotas = [self._quota(*each) for each in zip(self.databases, steps, strict=True)]

    def _quota(self, database: Database, step: float) -> SqliteQuota:
        machine = MachineTime(lambda: self.wall + step, lambda: self.uptime, f"boot {self.boot}")
        return SqliteQuota(database, quota_clock(database, machine))

    def _close(self) -> None:
        for database in self.databases:
            database.close()

    def _mark_expired(self) -> None:
        for requests in self.requests.values():
            for request in requests:
                request.expired = request.expired or request.at <= self.now - WINDOW


def test_processes() -> None:
    limits = settings(derandomize=True, deadline=None, max_examples=50, stateful_step_count=25)
    run_state_machine_as_test(Processes, settings=limits)
