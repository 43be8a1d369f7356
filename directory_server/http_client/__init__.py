"""Parts of HTTP clients of hostile peers: bounds of responses, checks of certificates and of redirects."""

from ._addresses import networks
from ._bounded_agent import MAX_HEAD, PIECE, BoundedAgent, HeadBoundedPool, HeadBoundedProtocol
from ._certificates import CertificatePolicy
from ._checked_agent import MAX_URL, CheckedAgent, CheckedNetwork, InvalidTarget, NotAllowed, Target, target_of
from ._documents import DocumentClient, document_client
from ._errors import BadCertificate, BadResponse, broken_off, failed_exchange, unreachable
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
from ._robots import MAX_ROBOTS, RobotsRules, robots_fields, robots_rules

__all__ = [
    "MAX_DELAY",
    "MAX_HEAD",
    "MAX_ROBOTS",
    "MAX_URL",
    "PIECE",
    "REDIRECT_CODES",
    "BadCertificate",
    "BadResponse",
    "BoundedAgent",
    "CertificatePolicy",
    "CheckedAgent",
    "CheckedNetwork",
    "DocumentClient",
    "HeadBoundedPool",
    "HeadBoundedProtocol",
    "InvalidTarget",
    "NotAllowed",
    "RequestBody",
    "RobotsRules",
    "Target",
    "broken_off",
    "cancellable",
    "date_of",
    "document_client",
    "drop",
    "failed_exchange",
    "header",
    "networks",
    "port_of",
    "read_body",
    "redirect_target",
    "retry_after",
    "robots_fields",
    "robots_rules",
    "target_of",
    "unreachable",
]
