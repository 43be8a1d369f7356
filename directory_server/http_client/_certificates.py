"""Verification of the certificates of TLS servers."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

from OpenSSL import SSL
from service_identity import CertificateError, VerificationError
from service_identity.hazmat import DNS_ID, IPAddress_ID, verify_service_identity
from service_identity.pyopenssl import extract_patterns
from twisted.internet.abstract import isIPAddress, isIPv6Address
from twisted.internet.interfaces import IOpenSSLClientConnectionCreator
from twisted.python.failure import Failure
from twisted.web.iweb import IPolicyForHTTPS
from zope.interface import implementer

from ._errors import BadCertificate


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
        """Return the creator of connections to `hostname`."""
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
