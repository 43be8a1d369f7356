"""Verification of the certificates of TLS servers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from OpenSSL.SSL import VERIFY_FAIL_IF_NO_PEER_CERT, VERIFY_PEER
from service_identity import CertificateError, VerificationError
from service_identity.hazmat import DNS_ID, IPAddress_ID, verify_service_identity
from service_identity.pyopenssl import extract_patterns
from twisted.internet.abstract import isIPAddress, isIPv6Address
from twisted.internet.interfaces import IOpenSSLClientConnectionCreator
from twisted.python.failure import Failure
from twisted.web.client import BrowserLikePolicyForHTTPS
from twisted.web.iweb import IPolicyForHTTPS
from zope.interface import implementer

from ._errors import BadCertificate


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
        fail(Failure(BadCertificate(reason)))
        return False

    return verify
