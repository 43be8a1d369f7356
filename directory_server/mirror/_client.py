"""The HTTP client of the mirror, and its check of certificates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from attrs import frozen
from OpenSSL.SSL import VERIFY_FAIL_IF_NO_PEER_CERT, VERIFY_PEER
from service_identity import CertificateError, VerificationError
from service_identity.hazmat import DNS_ID, IPAddress_ID, verify_service_identity
from service_identity.pyopenssl import extract_patterns
from treq.client import HTTPClient
from twisted.internet.abstract import isIPAddress, isIPv6Address
from twisted.internet.defer import Deferred, succeed
from twisted.internet.interfaces import IOpenSSLClientConnectionCreator
from twisted.python.failure import Failure
from twisted.web.client import Agent, BrowserLikePolicyForHTTPS
from twisted.web.iweb import IAgent, IPolicyForHTTPS
from zope.interface import implementer

from ._bounded_agent import BoundedAgent, HeadBoundedPool
from ._fetcher import Fetcher
from ._upstream import UpstreamFailed


@implementer(IPolicyForHTTPS)
class CertificatePolicy:
    """Trust what a browser on this machine would trust (RFC 9525).

    Twisted's own policy logs a traceback for a certificate that names no host at all.
    """

    def __init__(self) -> None:
        self._policy = BrowserLikePolicyForHTTPS()

    def creatorForNetloc(self, hostname: bytes, port: int) -> IOpenSSLClientConnectionCreator:
        """Return the creator of connections to `hostname`."""
        return _Creator(self._policy.creatorForNetloc(hostname, port), hostname.decode("ascii"))


@implementer(IOpenSSLClientConnectionCreator)
class _Creator:
    def __init__(self, creator: Any, host: str) -> None:
        self._creator = creator
        self._host = host

    def clientConnectionForTLS(self, tlsProtocol: Any) -> Any:
        """Return a connection that verifies the certificate of its peer."""
        connection = self._creator.clientConnectionForTLS(tlsProtocol)
        verify = _verification(self._host, tlsProtocol.failVerification)
        connection.set_verify(VERIFY_PEER | VERIFY_FAIL_IF_NO_PEER_CERT, verify)
        return connection


def _verification(host: str, fail: Callable[[Failure], None]) -> Callable[[Any, Any, int, int, int], bool]:
    """Return a callback of OpenSSL (SSL_CTX_set_verify(3)), which must not raise."""
    identity = IPAddress_ID(host) if isIPAddress(host) or isIPv6Address(host) else DNS_ID(host)

    def verify(connection: Any, certificate: Any, error: int, depth: int, trusted: int) -> bool:
        if not trusted:
            reason = "Its certificate is not trusted on this machine."
        elif depth:
            # An authority's certificate, which OpenSSL has verified and which names no host.
            return True
        else:
            try:
                verify_service_identity(extract_patterns(certificate), [identity], [])
                return True
            except (CertificateError, VerificationError):
                reason = f"Its certificate is not for {host}."
            except Exception:
                reason = "Its certificate cannot be read."
        fail(Failure(UpstreamFailed(reason, resumable=True)))
        return False

    return verify


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
