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

from .conftest import Open, Thread, outcomes

INSERT = "INSERT INTO spent (key, at, n) VALUES ('k', 0, ?)"


@pytest.fixture
def database(open_database: Open) -> Database:
    return open_database("quota")


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def thread() -> Thread:
    return Thread()


@pytest.fixture
def late() -> list[float]:
    """Return when functions have waited for too long."""
    return []


@pytest.fixture
def queue(database: Database, clock: Clock, thread: Thread, late: list[float]) -> Iterator[TransactionQueue]:
    def begin(*, wait: float | None = None) -> AbstractContextManager[sqlite3.Connection]:
        assert wait == WAIT
        return database.transaction(wait=0)

    queue = TransactionQueue("quota.db", begin, clock, thread, lambda: late.append(clock.seconds()))
    yield queue
    queue.stop()
    assert clock.getDelayedCalls() == []


@pytest.fixture
def foreign(database: Database) -> Iterator[sqlite3.Connection]:
    """Return the connection of a program that knows nothing of ours."""
    with closing(sqlite3.connect(database.path, isolation_level=None)) as connection:
        yield connection


def numbers(database: Database) -> list[int]:
    with database.connection() as connection:
        return [n for (n,) in connection.execute("SELECT n FROM spent ORDER BY n")]


def insert(number: int, result: object = None) -> Callable[[sqlite3.Connection], int]:
    def write(connection: sqlite3.Connection) -> int:
        connection.execute(INSERT, (number,))
        if isinstance(result, Exception):
            raise result
        return number

    return write


def test_commits_what_waits_in_one_transaction_and_answers_afterwards(
    queue: TransactionQueue, thread: Thread, database: Database
) -> None:
    asked = [queue.submit(insert(1)), queue.submit(insert(2)), queue.submit(insert(3))]
    assert queue.is_busy
    answer = thread.work()
    assert numbers(database) == [1, 2, 3]
    assert outcomes(*asked) == [..., ..., ...]
    answer()
    assert outcomes(*asked) == [1, 2, 3]
    assert not queue.is_busy
    assert thread.asked == []


def test_takes_those_that_came_meanwhile_into_the_next_transaction(
    queue: TransactionQueue, thread: Thread, database: Database
) -> None:
    first = queue.submit(insert(1))
    answer = thread.work()
    second, third = queue.submit(insert(2)), queue.submit(insert(3))
    answer()
    assert outcomes(first, second, third) == [1, ..., ...]
    thread.step()
    assert numbers(database) == [1, 2, 3]
    assert not queue.is_busy


def test_passes_a_domain_error_to_its_caller_only(queue: TransactionQueue, thread: Thread, database: Database) -> None:
    def refuse(connection: sqlite3.Connection) -> None:
        raise NotFound("There is none.")

    asked: list[Deferred[int | None]] = [queue.submit(insert(1)), queue.submit(refuse), queue.submit(insert(2))]
    thread.step()
    assert outcomes(*asked) == [1, NotFound, 2]
    assert numbers(database) == [1, 2]


@pytest.mark.parametrize("error", [Unavailable("The disk is full."), ValueError("A mistake.")])
def test_undoes_the_whole_transaction_for_any_other_error(
    queue: TransactionQueue, thread: Thread, database: Database, error: Exception
) -> None:
    asked = [queue.submit(insert(1)), queue.submit(insert(2, error))]
    thread.step()
    assert outcomes(*asked) == [type(error), type(error)]
    assert numbers(database) == []
    again = queue.submit(insert(3))
    thread.step()
    assert outcomes(again) == [3]


def test_calls_nothing_while_the_lock_is_away_and_refuses_after_a_second(
    queue: TransactionQueue,
    thread: Thread,
    clock: Clock,
    database: Database,
    foreign: sqlite3.Connection,
    late: list[float],
) -> None:
    foreign.execute("BEGIN IMMEDIATE")
    first = queue.submit(insert(1))
    thread.step()
    clock.advance(WAIT / 2)
    second = queue.submit(insert(2))
    thread.step()
    assert outcomes(first, second) == [..., ...]
    clock.advance(WAIT / 2)
    assert outcomes(first, second) == [Unavailable, ...]
    assert late == [WAIT]
    foreign.execute("ROLLBACK")
    thread.step()
    assert outcomes(second) == [2]
    assert numbers(database) == [2]
    assert not queue.is_busy
    clock.advance(10 * WAIT)
    assert late == [WAIT]


def test_refuses_each_after_a_second_of_its_own_however_long_the_lock_is_away(
    queue: TransactionQueue, thread: Thread, clock: Clock, foreign: sqlite3.Connection
) -> None:
    foreign.execute("BEGIN EXCLUSIVE")
    asked: list[Deferred[int]] = []
    for number in range(10):
        asked.append(queue.submit(insert(number)))
        thread.step()
        clock.advance(WAIT / 4)
    assert outcomes(*asked) == [Unavailable] * 7 + [...] * 3
    clock.advance(WAIT)
    assert outcomes(*asked[7:]) == [Unavailable] * 3
    thread.step()
    assert thread.asked == []
    assert not queue.is_busy


def test_waits_for_a_slow_commit_and_answers_behind_it(
    queue: TransactionQueue, thread: Thread, clock: Clock, database: Database
) -> None:
    first = queue.submit(insert(1))
    answer = thread.work()
    late = queue.submit(insert(2))
    clock.advance(WAIT)
    assert outcomes(first, late) == [..., Unavailable]
    clock.advance(COMMIT - WAIT - 0.1)
    assert outcomes(first) == [...]
    answer()
    assert outcomes(first) == [1]
    assert numbers(database) == [1]


def test_refuses_after_a_bound_where_a_commit_does_not_end(
    queue: TransactionQueue, thread: Thread, clock: Clock
) -> None:
    asked = queue.submit(insert(1))
    answer = thread.work()
    clock.pump([1.0] * int(COMMIT))
    assert outcomes(asked) == [Unavailable]
    answer()
    assert not queue.is_busy


def test_drops_what_its_caller_has_given_up(queue: TransactionQueue, thread: Thread, database: Database) -> None:
    asked = [queue.submit(insert(1)), queue.submit(insert(2))]
    asked[0].addErrback(lambda _: None)
    asked[0].cancel()
    thread.step()
    assert numbers(database) == [2]


def test_commits_all_the_same_what_its_caller_gives_up_meanwhile(
    queue: TransactionQueue, thread: Thread, database: Database
) -> None:
    asked = queue.submit(insert(1))
    asked.addErrback(lambda _: None)
    answer = thread.work()
    asked.cancel()
    answer()
    assert numbers(database) == [1]


def test_bounds_what_waits(queue: TransactionQueue, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_transactions, "MAX_WAITING", 2)
    waiting = [queue.submit(insert(number)) for number in range(2)]
    with pytest.raises(Unavailable):
        queue.submit(insert(3))
    assert outcomes(*waiting) == [..., ...]


def test_bounds_a_transaction(
    queue: TransactionQueue, thread: Thread, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_transactions, "MAX_TOGETHER", 2)
    for number in range(3):
        queue.submit(insert(number))
    thread.step()
    assert numbers(database) == [0, 1]
    thread.step()
    assert numbers(database) == [0, 1, 2]


def test_fails_all_that_wait_when_the_thread_fails(
    queue: TransactionQueue, thread: Thread, logged_failures: list[LogEvent]
) -> None:
    asked = queue.submit(insert(1))
    thread.asked.pop()[1].errback(RuntimeError("no thread"))
    assert outcomes(asked) == [RuntimeError]
    assert not queue.is_busy
    assert [event["log_failure"].type for event in logged_failures] == [RuntimeError]
    logged_failures.clear()


def test_refuses_what_waits_when_it_stops(queue: TransactionQueue, clock: Clock) -> None:
    asked = queue.submit(insert(1))
    queue.stop()
    assert outcomes(asked) == [Unavailable]
    assert clock.getDelayedCalls() == []
