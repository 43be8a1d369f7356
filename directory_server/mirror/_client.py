"""The HTTP client of the mirror."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from attrs import frozen
from treq.client import HTTPClient
from twisted.internet.defer import Deferred, succeed
from twisted.web.client import Agent
from twisted.web.iweb import IAgent

from ..http_client import BoundedAgent, CertificatePolicy, HeadBoundedPool
from ._fetcher import Fetcher

CONNECT = 10.0
"""Timeout of a connection attempt in seconds."""

IDLE = 10
"""Seconds for which an idle connection is kept for the next page."""


@frozen(eq=False)
class Client:
    """Factory of the Fetcher of a sync run; `close` ends the idle connections."""

    _agent: IAgent
    _clock: Any
    _now: Callable[[], float]
    close: Callable[[], Deferred[None]] = lambda: succeed(None)

    def fetch(self, headers: Mapping[str, str], max_bytes: int) -> Fetcher:
        """Return a Fetcher of responses of at most `max_bytes`, which sends `headers` in each request."""
        return Fetcher(HTTPClient(BoundedAgent(self._agent, max_bytes)), self._clock, self._now, headers)


def client(reactor: Any, now: Callable[[], float]) -> Client:
    """Return an HTTP/1.1 client on `reactor`, which trusts the machine's certificate authorities.

    `now` returns seconds since the epoch.
    """
    pool = HeadBoundedPool(reactor)
    pool.maxPersistentPerHost = 1
    pool.cachedConnectionTimeout = IDLE
    agent = Agent(reactor, CertificatePolicy(), connectTimeout=CONNECT, pool=pool)
    return Client(agent, reactor, now, pool.closeCachedConnections)
