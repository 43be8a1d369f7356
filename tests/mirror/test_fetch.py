"""A request that is given up, in whatever state it is."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import define
from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.error import ConnectingCancelledError, DNSLookupError
from twisted.internet.task import Clock
from twisted.python.failure import Failure
from twisted.web.client import ResponseNeverReceived
from twisted.web.http_headers import Headers
from twisted.web.iweb import IAgent
from zope.interface import implementer

from directory_server.mirror import Client, UpstreamFailed
from directory_server.mirror._fetcher import DEADLINE, MAX_DELAY

from .registry import NOW

GIVEN_UP = [ConnectingCancelledError(None), ResponseNeverReceived([Failure(CancelledError())]), CancelledError()]


@implementer(IAgent)
class Agent:
    """Answers nothing, and raises `error` when that is not waited for any more."""

    def __init__(self, error: Exception) -> None:
        self.answer: Deferred[Any] = Deferred(lambda answer: answer.errback(error))

    def request(self, *args: Any, **kwargs: Any) -> Deferred[Any]:
        return self.answer


@define
class Refusal:
    """Says no, and when to come back, but not what the time is."""

    headers: Headers
    code: int = 503
    length: int = 0


def getting(agent: Agent, clock: Clock) -> tuple[Deferred[Any], list[Failure]]:
    failures: list[Failure] = []
    fetch = Client(agent, clock, lambda: NOW).fetch({}, 100)
    return Deferred.fromCoroutine(fetch.get("http://a.example/", print)).addErrback(failures.append), failures


@pytest.mark.parametrize("error", GIVEN_UP, ids=lambda error: type(error).__name__)
def test_a_request_that_takes_too_long_says_so(error: Exception) -> None:
    clock = Clock()
    _, failures = getting(Agent(error), clock)
    clock.advance(DEADLINE - 1)
    assert failures == []
    clock.advance(1)
    assert failures[0].check(UpstreamFailed)
    assert failures[0].getErrorMessage() == "It did not answer within 30 seconds."


@pytest.mark.parametrize("error", GIVEN_UP, ids=lambda error: type(error).__name__)
def test_a_request_that_nobody_waits_for_is_no_failure_of_upstreams(error: Exception) -> None:
    clock = Clock()
    waiting, failures = getting(Agent(error), clock)
    waiting.cancel()
    assert failures[0].check(CancelledError)
    assert clock.getDelayedCalls() == []


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ("120", 120.0),
        ("Fri, 15 Jan 2027 11:00:00 GMT", 10_800.0),
        ("Fri, 15 Jan 2027 07:00:00 GMT", 0.0),
        ("Fri, 15 Jan 2099 07:00:00 GMT", MAX_DELAY),
        ("9" * 400, MAX_DELAY),
        ("Fri, 15 Jan 99999999999999 08:00:00 GMT", MAX_DELAY),
        (f"Fri, 15 Jan 2027 08:00:{'9' * 400} GMT", 0.0),
        ("-1", 0.0),
        ("soon", 0.0),
        ("", 0.0),
    ],
)
def test_when_to_come_back_without_a_date(said: str, seconds: float) -> None:
    clock, agent = Clock(), Agent(CancelledError())
    _, failures = getting(agent, clock)
    agent.answer.callback(Refusal(Headers({"Retry-After": [said]})))
    assert isinstance(failures[0].value, UpstreamFailed)
    assert failures[0].value.retry_after == seconds


def test_a_name_that_nobody_knows() -> None:
    agent = Agent(CancelledError())
    _, failures = getting(agent, Clock())
    agent.answer.errback(DNSLookupError())
    assert failures[0].getErrorMessage() == "It cannot be reached: its name is not known."
