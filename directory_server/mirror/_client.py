"""The HTTP client of the mirror."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from socket import getaddrinfo
from typing import Any

from attrs import frozen
from treq.client import HTTPClient
from twisted.internet.defer import Deferred, succeed
from twisted.web.client import Agent
from twisted.web.iweb import IAgent

from ..domain.ports.runtime import Offload
from ..domain.ports.tracing import Trace, untraced
from ..http_client import BoundedAgent, CertificatePolicy, CheckedAgent, CheckedNetwork, HeadBoundedPool, networks
from ._fetcher import Fetcher

CONNECT = 10.0
"""Timeout of a connection attempt in seconds."""

IDLE = 10
"""Seconds for which an idle connection is kept for the next page."""


@frozen(eq=False)
class Client:
    """Factory of the Fetcher of a sync run; `close` ends the idle connections.

    Checked Fetchers connect with `reactor`, to addresses that `resolve` returns.
    """

    _agent: IAgent
    _clock: Any
    _now: Callable[[], float]
    close: Callable[[], Deferred[None]] = lambda: succeed(None)
    _reactor: Any = None
    _resolve: Callable[..., Sequence[Any]] = getaddrinfo

    def fetch(self, headers: Mapping[str, str], max_bytes: int) -> Fetcher:
        """Return a Fetcher of responses of at most `max_bytes`, which sends `headers` in each request."""
        return Fetcher(HTTPClient(BoundedAgent(self._agent, max_bytes)), self._clock, self._now, headers)

    def fetch_checked(
        self, home: str, headers: Mapping[str, str], max_bytes: int, allowed: Iterable[str], lookup: Offload
    ) -> tuple[Fetcher, Callable[[], Deferred[None]]]:
        """Return a Fetcher of URLs that others name, and what closes its connections.

        It connects to public addresses and those of the networks `allowed`, and follows redirects to other hosts. It
        sends `headers` to the origin of `home` only. `lookup` runs the look-ups of names.
        """
        network = CheckedNetwork(self._reactor, CertificatePolicy(), networks(allowed), lookup, CONNECT, self._resolve)
        agent = CheckedAgent(network)
        client = HTTPClient(BoundedAgent(agent, max_bytes))
        return Fetcher(client, self._clock, self._now, headers, home), agent.close


def client(reactor: Any, now: Callable[[], float], trace: Trace = untraced) -> Client:
    """Return an HTTP/1.1 client on `reactor`, which trusts the machine's certificate authorities.

    `now` returns seconds since the epoch.
    """
    pool = HeadBoundedPool(reactor)
    pool.maxPersistentPerHost = 1
    pool.cachedConnectionTimeout = IDLE
    agent = Agent(reactor, CertificatePolicy(), connectTimeout=CONNECT, pool=pool)
    return Client(trace("upstream", agent), reactor, now, pool.closeCachedConnections, reactor)
