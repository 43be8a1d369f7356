"""Transaction queue: batching, deadlines, errors and bounds."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing

import pytest
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.logger import LogEvent

from directory_server.domain.errors import NotFound, Unavailable
from directory_server.sqlite import Database, _transactions
from directory_server.sqlite._transactions import COMMIT, WAIT, TransactionQueue

from .conftest import ManualOffload, outcomes

INSERT = "INSERT INTO spent (key, at, n) VALUES ('k', 0, ?)"


@pytest.fixture
def offload() -> ManualOffload:
    return ManualOffload()


@pytest.fixture
def timeouts() -> list[float]:
    """Return the times at which functions timed out, in seconds after the start."""
    return []


@pytest.fixture
def queue(
    quota_database: Database, clock: Clock, offload: ManualOffload, timeouts: list[float]
) -> Iterator[TransactionQueue]:
    def begin(*, wait: float | None = None) -> AbstractContextManager[sqlite3.Connection]:
        assert wait == WAIT
        return quota_database.transaction(wait=0)

    start = clock.seconds()
    queue = TransactionQueue("quota.db", begin, clock, offload, lambda: timeouts.append(clock.seconds() - start))
    yield queue
    queue.stop()
    assert clock.getDelayedCalls() == []


@pytest.fixture
def foreign(quota_database: Database) -> Iterator[sqlite3.Connection]:
    """Return a connection of another program."""
    with closing(sqlite3.connect(quota_database.path, isolation_level=None)) as connection:
        yield connection


def stored_numbers(quota_database: Database) -> list[int]:
    with quota_database.connection() as connection:
        return [n for (n,) in connection.execute("SELECT n FROM spent ORDER BY n")]


def insert(number: int, result: object = None) -> Callable[[sqlite3.Connection], int]:
    def write(connection: sqlite3.Connection) -> int:
        connection.execute(INSERT, (number,))
        if isinstance(result, Exception):
            raise result
        return number

    return write


def test_waiting_functions_share_a_transaction_and_return_after_its_commit(
    queue: TransactionQueue, offload: ManualOffload, quota_database: Database
) -> None:
    submitted = [queue.submit(insert(1)), queue.submit(insert(2)), queue.submit(insert(3))]
    deliver = offload.compute_next()
    assert stored_numbers(quota_database) == [1, 2, 3]
    assert outcomes(*submitted) == [..., ..., ...]
    deliver()
    assert outcomes(*submitted) == [1, 2, 3]
    assert offload.pending == []


def test_functions_submitted_during_a_transaction_join_the_next_one(
    queue: TransactionQueue, offload: ManualOffload, quota_database: Database
) -> None:
    first = queue.submit(insert(1))
    deliver = offload.compute_next()
    second, third = queue.submit(insert(2)), queue.submit(insert(3))
    deliver()
    assert outcomes(first, second, third) == [1, ..., ...]
    offload.run_next()
    assert stored_numbers(quota_database) == [1, 2, 3]


def test_a_domain_error_affects_its_caller_only(
    queue: TransactionQueue, offload: ManualOffload, quota_database: Database
) -> None:
    def raise_not_found(connection: sqlite3.Connection) -> None:
        raise NotFound("There is none.")

    submitted: list[Deferred[int | None]] = [
        queue.submit(insert(1)),
        queue.submit(raise_not_found),
        queue.submit(insert(2)),
    ]
    offload.run_next()
    assert outcomes(*submitted) == [1, NotFound, 2]
    assert stored_numbers(quota_database) == [1, 2]


@pytest.mark.parametrize("error", [Unavailable("The disk is full."), ValueError("A mistake.")])
def test_any_other_error_rolls_the_transaction_back(
    queue: TransactionQueue, offload: ManualOffload, quota_database: Database, error: Exception
) -> None:
    submitted = [queue.submit(insert(1)), queue.submit(insert(2, error))]
    offload.run_next()
    assert outcomes(*submitted) == [type(error), type(error)]
    assert stored_numbers(quota_database) == []
    again = queue.submit(insert(3))
    offload.run_next()
    assert outcomes(again) == [3]


def test_a_function_without_the_lock_is_not_called_and_fails_after_a_second(
    queue: TransactionQueue,
    offload: ManualOffload,
    clock: Clock,
    quota_database: Database,
    foreign: sqlite3.Connection,
    timeouts: list[float],
) -> None:
    foreign.execute("BEGIN IMMEDIATE")
    first = queue.submit(insert(1))
    offload.run_next()
    clock.advance(WAIT / 2)
    second = queue.submit(insert(2))
    offload.run_next()
    assert outcomes(first, second) == [..., ...]
    clock.advance(WAIT / 2)
    assert outcomes(first, second) == [Unavailable, ...]
    assert timeouts == [WAIT]
    foreign.execute("ROLLBACK")
    offload.run_next()
    assert outcomes(second) == [2]
    assert stored_numbers(quota_database) == [2]
    clock.advance(10 * WAIT)
    assert timeouts == [WAIT]


def test_a_slow_commit_is_awaited_and_later_functions_fail(
    queue: TransactionQueue, offload: ManualOffload, clock: Clock, quota_database: Database
) -> None:
    first = queue.submit(insert(1))
    deliver = offload.compute_next()
    second = queue.submit(insert(2))
    clock.advance(WAIT)
    assert outcomes(first, second) == [..., Unavailable]
    clock.advance(COMMIT - WAIT - 0.1)
    assert outcomes(first) == [...]
    deliver()
    assert outcomes(first) == [1]
    assert stored_numbers(quota_database) == [1]


def test_a_commit_that_does_not_end_fails_at_its_deadline(
    queue: TransactionQueue, offload: ManualOffload, clock: Clock
) -> None:
    submitted = queue.submit(insert(1))
    deliver = offload.compute_next()
    clock.pump([1.0] * int(COMMIT))
    assert outcomes(submitted) == [Unavailable]
    deliver()
    following = queue.submit(insert(2))
    offload.run_next()
    assert outcomes(following) == [2]


def test_a_cancelled_function_is_not_called(
    queue: TransactionQueue, offload: ManualOffload, quota_database: Database
) -> None:
    submitted = [queue.submit(insert(1)), queue.submit(insert(2))]
    submitted[0].addErrback(lambda _: None)
    submitted[0].cancel()
    offload.run_next()
    assert stored_numbers(quota_database) == [2]


def test_cancelling_during_the_transaction_does_not_roll_it_back(
    queue: TransactionQueue, offload: ManualOffload, quota_database: Database
) -> None:
    submitted = queue.submit(insert(1))
    submitted.addErrback(lambda _: None)
    deliver = offload.compute_next()
    submitted.cancel()
    deliver()
    assert stored_numbers(quota_database) == [1]


def test_the_number_of_waiting_functions_is_limited(queue: TransactionQueue, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_transactions, "MAX_WAITING", 2)
    waiting = [queue.submit(insert(number)) for number in range(2)]
    with pytest.raises(Unavailable):
        queue.submit(insert(3))
    assert outcomes(*waiting) == [..., ...]


def test_the_number_of_functions_in_a_transaction_is_limited(
    queue: TransactionQueue, offload: ManualOffload, quota_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_transactions, "MAX_TOGETHER", 2)
    for number in range(3):
        queue.submit(insert(number))
    offload.run_next()
    assert stored_numbers(quota_database) == [0, 1]
    offload.run_next()
    assert stored_numbers(quota_database) == [0, 1, 2]


def test_an_offload_error_fails_all_waiting_functions(
    queue: TransactionQueue, offload: ManualOffload, logged_failures: list[LogEvent]
) -> None:
    submitted = queue.submit(insert(1))
    offload.pending.pop()[1].errback(RuntimeError("no thread"))
    assert outcomes(submitted) == [RuntimeError]
    following = queue.submit(insert(2))
    offload.run_next()
    assert outcomes(following) == [2]
    assert [event["log_failure"].type for event in logged_failures] == [RuntimeError]
    logged_failures.clear()


def test_stop_fails_waiting_functions(queue: TransactionQueue, clock: Clock) -> None:
    submitted = queue.submit(insert(1))
    queue.stop()
    assert outcomes(submitted) == [Unavailable]
    assert clock.getDelayedCalls() == []
