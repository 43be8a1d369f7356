"""Requests to an upstream: deadline, cancellation, Retry-After and unknown hosts."""

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

from directory_server.http_client import MAX_DELAY
from directory_server.mirror import Client, UpstreamFailed
from directory_server.mirror._fetcher import DEADLINE

from .registry import NOW

CANCELLATIONS = [ConnectingCancelledError(None), ResponseNeverReceived([Failure(CancelledError())]), CancelledError()]


@implementer(IAgent)
class Agent:
    """An agent whose request never ends. Cancelling the request raises `error`."""

    def __init__(self, error: Exception) -> None:
        self.response: Deferred[Any] = Deferred(lambda response: response.errback(error))

    def request(self, *args: Any, **kwargs: Any) -> Deferred[Any]:
        return self.response


@define
class ServiceUnavailable:
    """A response with status 503 and without a Date header."""

    headers: Headers
    code: int = 503
    length: int = 0


def start_request(agent: Agent, clock: Clock) -> tuple[Deferred[Any], list[Failure]]:
    """Start a request; return its Deferred and the list that its failure is added to."""
    failures: list[Failure] = []
    fetch = Client(agent, clock, lambda: NOW).fetch({}, 100)
    return Deferred.fromCoroutine(fetch.get("http://a.example/", print)).addErrback(failures.append), failures


@pytest.mark.parametrize("error", CANCELLATIONS, ids=lambda error: type(error).__name__)
def test_a_request_fails_at_its_deadline(error: Exception) -> None:
    clock = Clock()
    _, failures = start_request(Agent(error), clock)
    clock.advance(DEADLINE - 1)
    assert failures == []
    clock.advance(1)
    assert failures[0].check(UpstreamFailed)
    assert failures[0].getErrorMessage() == "It did not answer within 30 seconds."


@pytest.mark.parametrize("error", CANCELLATIONS, ids=lambda error: type(error).__name__)
def test_a_cancelled_request_is_no_fault_of_the_upstream(error: Exception) -> None:
    clock = Clock()
    request, failures = start_request(Agent(error), clock)
    request.cancel()
    assert failures[0].check(CancelledError)
    assert clock.getDelayedCalls() == []


@pytest.mark.parametrize(
    ("retry_after", "seconds"),
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
def test_retry_after_without_a_date_header(retry_after: str, seconds: float) -> None:
    clock, agent = Clock(), Agent(CancelledError())
    _, failures = start_request(agent, clock)
    agent.response.callback(ServiceUnavailable(Headers({"Retry-After": [retry_after]})))
    assert isinstance(failures[0].value, UpstreamFailed)
    assert failures[0].value.retry_after == seconds


def test_an_unknown_host_is_unreachable() -> None:
    agent = Agent(CancelledError())
    _, failures = start_request(agent, Clock())
    agent.response.errback(DNSLookupError())
    assert failures[0].getErrorMessage() == "It cannot be reached (its name is not known)."
