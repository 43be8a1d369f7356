"""Parts of HTTP clients of hostile peers: bounds of responses, checks of certificates and of redirects."""

from ._bounded_agent import MAX_HEAD, PIECE, BoundedAgent, HeadBoundedPool, HeadBoundedProtocol
from ._certificates import CertificatePolicy
from ._errors import BadCertificate, BadResponse, broken_off, unreachable
from ._requests import RequestBody
from ._responses import (
    MAX_DELAY,
    REDIRECT_CODES,
    cancellable,
    date_of,
    drop,
    header,
    port_of,
    read_body,
    redirect_target,
    retry_after,
)

__all__ = [
    "MAX_DELAY",
    "MAX_HEAD",
    "PIECE",
    "REDIRECT_CODES",
    "BadCertificate",
    "BadResponse",
    "BoundedAgent",
    "CertificatePolicy",
    "HeadBoundedPool",
    "HeadBoundedProtocol",
    "RequestBody",
    "broken_off",
    "cancellable",
    "date_of",
    "drop",
    "header",
    "port_of",
    "read_body",
    "redirect_target",
    "retry_after",
    "unreachable",
]
