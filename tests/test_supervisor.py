"""The supervisor's delays before restarts."""

from __future__ import annotations

from directory_server.supervisor import LONGEST, STEADY, Worker


def test_delay_doubles_up_to_a_limit() -> None:
    worker = Worker(1)
    assert [worker.ended(now) for now in range(8)] == [1, 2, 4, 8, 16, 32, LONGEST, LONGEST]
    assert worker.restart_at == 7 + LONGEST


def test_delay_of_a_process_that_served_for_long_is_the_first_one_again() -> None:
    worker = Worker(1)
    for now in range(3):
        worker.ended(now)
    worker.ready_at = 10.0
    assert worker.ended(10.0 + STEADY / 2) == 8
    worker.ready_at = 100.0
    assert worker.ended(100.0 + STEADY) == 1
