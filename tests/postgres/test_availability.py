"""Availability: what begins a fault, what ends it, and the lines of the log."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from twisted.logger import Logger, formatEvent

from directory_server.postgres._availability import REPEAT, Availability, Proof, reason


class Watched:
    """An Availability on a clock of the test, and its log lines."""

    def __init__(self) -> None:
        self.now = 0.0
        self.lines: list[str] = []
        self.availability = Availability("hunter2", lambda: 1_000.0 + self.now)
        observer: Any = lambda event: self.lines.append(formatEvent(event))  # noqa: E731
        self.availability._log = Logger(observer=observer)


@pytest.fixture
def watched() -> Watched:
    return Watched()


def error(code: str) -> psycopg.Error:
    """Return the driver's error for a SQLSTATE."""
    return psycopg.errors.lookup(code)("permission denied hunter2")


SILENT = psycopg.OperationalError("no answer")


@pytest.mark.parametrize("code", ["57014", "55P03", "53100", "42501", "42P01", "XX001", "08006"])
def test_only_a_charge_ends_the_fault_of_a_charge(watched: Watched, code: str) -> None:
    availability = watched.availability
    availability.raised(error(code), Proof.CHARGE)
    for proof in (Proof.ANSWER, Proof.WRITE, Proof.POLL):
        availability.succeeded(proof)
        assert availability.since == 1_000.0
    assert availability.needs(Proof.CHARGE)
    availability.succeeded(Proof.CHARGE)
    assert availability.since is None


def test_a_silent_charge_ends_with_a_charge_although_sessions_are_opened(watched: Watched) -> None:
    availability = watched.availability
    availability.raised(SILENT, Proof.CHARGE)
    availability.lost("session")
    availability.connected("session")
    availability.succeeded(Proof.POLL)
    assert availability.since is not None
    availability.succeeded(Proof.CHARGE)
    assert availability.since is None
    assert len(watched.lines) == 2


def test_a_session_that_is_not_open_counts_as_unavailable_whatever_others_answer(watched: Watched) -> None:
    availability = watched.availability
    availability.lost("charges")
    availability.lost("reads")
    availability.connected("reads")
    availability.succeeded(Proof.WRITE)
    assert availability.since is not None
    availability.connected("charges")
    assert availability.since is None
    # The first connect of a process is no fault.
    assert watched.lines == []


@pytest.mark.parametrize("code", ["40001", "40P01", "26000"])
def test_an_error_of_one_run_is_no_fault_even_of_a_charge(watched: Watched, code: str) -> None:
    assert watched.availability.raised(error(code), Proof.CHARGE) is not None
    assert watched.availability.since is None


@pytest.mark.parametrize("code", ["57014", "55P03"])
def test_a_wait_of_another_statement_is_no_fault(watched: Watched, code: str) -> None:
    assert watched.availability.raised(error(code)) is not None
    assert watched.availability.since is None


@pytest.mark.parametrize("code", ["42501", "42P01", "42703", "42883", "XX000", "XX001"])
def test_a_rejected_statement_is_logged_once_a_minute(watched: Watched, code: str) -> None:
    for _ in range(50):
        assert "The database cannot be used now: " in str(watched.availability.raised(error(code)))
    assert watched.availability.since is None
    assert len(watched.lines) == 1
    assert watched.lines[0].startswith("Database rejects statements: ")
    assert watched.lines[0].endswith("(permission denied …)")
    watched.now += REPEAT
    watched.availability.raised(error(code))
    assert len(watched.lines) == 2


def test_a_poll_without_rights_is_a_fault_that_a_poll_ends(watched: Watched) -> None:
    watched.availability.raised(error("42501"), Proof.POLL)
    watched.availability.succeeded(Proof.CHARGE)
    assert watched.availability.since is not None
    watched.availability.succeeded(Proof.POLL)
    assert watched.availability.since is None


def test_reasons_that_alternate_are_logged_once_each(watched: Watched) -> None:
    for _ in range(20):
        watched.availability.raised(SILENT, Proof.CHARGE)
        watched.availability.raised(error("57014"), Proof.CHARGE)
    watched.availability.succeeded(Proof.CHARGE)
    assert [line.split(" (")[0] for line in watched.lines] == [
        "Database unavailable: it does not respond",
        "Database unavailable: it has ended the statement",
        "Database available again",
    ]


def test_wrong_sql_has_no_reason() -> None:
    assert reason(psycopg.errors.SyntaxError()) is None
