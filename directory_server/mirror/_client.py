"""The HTTP client of the mirror."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from attrs import frozen
from treq.client import HTTPClient
from twisted.internet.defer import Deferred, succeed
from twisted.web.client import Agent
from twisted.web.iweb import IAgent

from ._bounded_agent import BoundedAgent
from ._certificates import CertificatePolicy
from ._fetcher import Fetcher
from ._head import HeadBoundedPool

CONNECT = 10.0
"""Seconds in which a connection has to be made."""

IDLE = 10
"""Seconds for which a connection waits for the next page."""


@frozen(eq=False)
class Client:
    """Makes what gets the bytes of one round; `close` ends the connections that are left."""

    _agent: IAgent
    _clock: Any
    _now: Callable[[], float]
    close: Callable[[], Deferred[None]] = lambda: succeed(None)

    def fetch(self, headers: Mapping[str, str], most: int) -> Fetcher:
        """Return what gets answers of at most `most` bytes, with `headers` in each request."""
        return Fetcher(HTTPClient(BoundedAgent(self._agent, most)), self._clock, self._now, headers)


def client(reactor: Any, now: Callable[[], float]) -> Client:
    """Return a client on `reactor`, which speaks HTTP/1.1, and TLS with the certificates that the machine trusts.

    `now` is the time of day in seconds since the epoch.
    """
    pool = HeadBoundedPool(reactor)
    pool.maxPersistentPerHost = 1
    pool.cachedConnectionTimeout = IDLE
    agent = Agent(reactor, CertificatePolicy(), connectTimeout=CONNECT, pool=pool)
    return Client(agent, reactor, now, pool.closeCachedConnections)
