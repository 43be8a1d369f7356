"""Parts of HTTP clients of hostile peers: bounds of responses, checks of certificates and of redirects."""

from ._bounded_agent import MAX_HEAD, PIECE, BoundedAgent, HeadBoundedPool, HeadBoundedProtocol
from ._checked_agent import (
    MAX_URL,
    CheckedAgent,
    CheckedNetwork,
    InvalidTarget,
    NotAllowed,
    Target,
    networks,
    target_of,
)
from ._documents import CertificatePolicy, DocumentClient, RequestBody, document_client, exchanged
from ._responses import (
    MAX_DELAY,
    REDIRECT_CODES,
    BadCertificate,
    BadResponse,
    cancellable,
    date_of,
    drop,
    header,
    read_body,
    redirect_target,
    retry_after,
)
from ._robots import MAX_ROBOTS, RobotsRules, robots_fields, robots_rules
