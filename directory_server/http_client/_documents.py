"""Client that gets small documents: bounded in bytes and time, without redirects, and with checked certificates."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from functools import cached_property
from typing import Any, TypeVar
from urllib.parse import urlencode

from attrs import frozen
from OpenSSL import SSL
from service_identity import CertificateError, VerificationError
from service_identity.hazmat import DNS_ID, IPAddress_ID, verify_service_identity
from service_identity.pyopenssl import extract_patterns
from twisted.internet.abstract import isIPAddress, isIPv6Address
from twisted.internet.defer import Deferred, succeed
from twisted.internet.error import (
    ConnectError,
    ConnectionClosed,
    ConnectionDone,
    ConnectionLost,
    DNSLookupError,
    SSLError,
)
from twisted.internet.interfaces import IOpenSSLClientConnectionCreator
from twisted.python.failure import Failure
from twisted.web.client import Agent, ResponseFailed, ResponseNeverReceived
from twisted.web.http_headers import Headers
from twisted.web.iweb import IAgent, IBodyProducer, IPolicyForHTTPS, IResponse
from zope.interface import implementer

from .. import __version__
from ..domain.ports.tracing import Trace, untraced
from ._bounded_agent import BoundedAgent, HeadBoundedPool
from ._checked_agent import InvalidTarget, NotAllowed
from ._responses import BadCertificate, BadResponse, cancellable, drop, failed_exchange, read_body

CONNECT = 5.0
"""Timeout of a connection attempt in seconds."""

T = TypeVar("T")

_NETWORK_ERRORS = (
    *(BadCertificate, ConnectError, ConnectionClosed, DNSLookupError, ResponseFailed, ResponseNeverReceived),
    *(SSL.Error, SSLError),
)


async def exchanged(exchange: Coroutine[Any, Any, T], deadline: float, clock: Any) -> T:
    """Return the result of an exchange with a peer, within `deadline` seconds of `clock`.

    Raises BadResponse for every error of the network, of the peer and of its address; the message says what "it" did.
    """
    running = Deferred.fromCoroutine(cancellable(exchange))
    try:
        return await running.addTimeout(deadline, clock, _late)
    except (InvalidTarget, NotAllowed) as error:
        raise BadResponse(error.message) from None
    except _NETWORK_ERRORS as error:
        raise failed_exchange(error) from None


@frozen(eq=False)
class DocumentClient:
    """Gets documents. Hosts that others name need a CheckedAgent. `purpose` is a part of the user agent.

    With `keeps`, the agent keeps connections. A request is sent again if the peer has closed a kept one just before.
    """

    _agent: IAgent
    _clock: Any
    _purpose: str
    _keeps: bool = False

    async def get(
        self,
        url: str,
        *,
        max_bytes: int,
        deadline: float,
        accept: str = "application/json",
        authorization: str = "",
        form: Mapping[str, str] | None = None,
        json: bytes = b"",
    ) -> bytes:
        """Return the body of the response 200 to a GET of `url`, or to a POST of `form` or `json`.

        `deadline` is in seconds, `authorization` the value of this header. Raises BadResponse for everything else, a
        redirect too; its message says what "it" did.
        """
        content = json if form is None else urlencode(form).encode("ascii")
        kind = "application/json" if form is None else "application/x-www-form-urlencoded"
        headers = Headers(
            {
                "Accept": [accept],
                "Accept-Encoding": ["gzip"],
                "User-Agent": [f"directory-server/{__version__} ({self._purpose})"],
                **({"Authorization": [authorization]} if authorization else {}),
                **({"Content-Type": [kind]} if content else {}),
            }
        )
        return await exchanged(self._fetch(url, max_bytes, headers, content), deadline, self._clock)

    async def _fetch(self, url: str, max_bytes: int, headers: Headers, content: bytes) -> bytes:
        try:
            response = await self._request(url, max_bytes, headers, content)
        except ResponseNeverReceived as error:
            if not self._keeps or not all(failure.check(ConnectionDone, ConnectionLost) for failure in error.reasons):
                raise
            response = await self._request(url, max_bytes, headers, content)
        if response.code != 200:
            drop(response)
            raise BadResponse(f"It answered {response.code}.")
        received = bytearray()
        await read_body(response, received.extend)
        return bytes(received)

    async def _request(self, url: str, max_bytes: int, headers: Headers, content: bytes) -> IResponse:
        agent, producer = BoundedAgent(self._agent, max_bytes), RequestBody(content) if content else None
        return await agent.request(b"POST" if content else b"GET", url.encode("ascii"), headers, producer)


def document_client(reactor: Any, purpose: str, trace: Trace = untraced) -> DocumentClient:
    """Return a client on `reactor`. It trusts the machine's certificate authorities and keeps no connections."""
    pool = HeadBoundedPool(reactor, persistent=False)
    agent = Agent(reactor, CertificatePolicy(), connectTimeout=CONNECT, pool=pool)
    return DocumentClient(trace("upstream", agent), reactor, purpose)


def _late(result: Any, deadline: float) -> Failure:
    """Return the failure of a request that was cancelled, with whatever error the Agent reports that."""
    return Failure(BadResponse(f"It did not answer within {deadline:g} seconds.", is_passing=True))


@implementer(IBodyProducer)
class RequestBody:
    """The body of a request, written at once."""

    def __init__(self, body: bytes) -> None:
        self._body = body
        self.length = len(body)

    def startProducing(self, consumer: Any) -> Deferred[None]:
        consumer.write(self._body)
        return succeed(None)

    def pauseProducing(self) -> None:
        pass

    def resumeProducing(self) -> None:
        pass

    def stopProducing(self) -> None:
        pass


@implementer(IPolicyForHTTPS)
class CertificatePolicy:
    """Trust what a browser on this machine would trust (RFC 9525).

    Twisted's own policy loads all trusted authorities for each connection, which takes 10 ms or more, and logs a
    traceback for a certificate that names no host at all. Here the first connection loads them.
    """

    @cached_property
    def _context(self) -> SSL.Context:
        context = SSL.Context(SSL.TLS_CLIENT_METHOD)
        context.set_min_proto_version(SSL.TLS1_2_VERSION)
        context.set_options(SSL.OP_NO_COMPRESSION | SSL.OP_NO_RENEGOTIATION)
        context.set_default_verify_paths()
        return context

    def creatorForNetloc(self, hostname: bytes, port: int) -> IOpenSSLClientConnectionCreator:
        return _Creator(self._context, hostname.decode("ascii"))


@implementer(IOpenSSLClientConnectionCreator)
class _Creator:
    def __init__(self, context: SSL.Context, host: str) -> None:
        self._context = context
        self._host = host

    def clientConnectionForTLS(self, tlsProtocol: Any) -> SSL.Connection:
        """Return a connection that names its host (SNI, not for addresses), and verifies the certificate."""
        connection = SSL.Connection(self._context)
        if not _is_address(self._host):
            connection.set_tlsext_host_name(self._host.encode("ascii"))
        verify = _verification(self._host, tlsProtocol.failVerification)
        connection.set_verify(SSL.VERIFY_PEER | SSL.VERIFY_FAIL_IF_NO_PEER_CERT, verify)
        return connection


def _is_address(host: str) -> bool:
    return isIPAddress(host) or isIPv6Address(host)


def _verification(host: str, fail: Callable[[Failure], None]) -> Callable[[Any, Any, int, int, int], bool]:
    """Return a callback of OpenSSL (SSL_CTX_set_verify(3)), which must not raise."""
    identity = IPAddress_ID(host) if _is_address(host) else DNS_ID(host)

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
        fail(Failure(BadCertificate(reason)))
        return False

    return verify
