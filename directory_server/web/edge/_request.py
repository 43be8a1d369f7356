"""A request as the tree sees it."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, Any

from twisted.python.failure import Failure
from twisted.web.http_headers import Headers
from twisted.web.server import Request

from ._parser import Message

if TYPE_CHECKING:
    from ._connection import Connection

_CORS_METHODS = "GET, HEAD, POST, DELETE, OPTIONS"
_CORS_REQUEST_HEADERS = (
    "Authorization, Content-Type, Accept, Last-Event-ID, Mcp-Session-Id, MCP-Protocol-Version, Mcp-Method, Mcp-Name"
)
_CORS_RESPONSE_HEADERS = (
    "Link, Mcp-Session-Id, RateLimit, RateLimit-Policy, Retry-After, WWW-Authenticate, "
    "X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-Request-Id"
)


class DirectoryRequest(Request):
    """A request that was read as a whole before anybody sees it, and is answered by its site.

    `id` is in the head of its answer and in the log; `began` is when its first byte came, in seconds of the clock;
    `gone` tells that the client has left.
    """

    channel: Any
    key_id: str | None = None
    gone = False
    defaultContentType = None

    def __init__(self, channel: Connection, message: Message, request_id: str) -> None:
        # Nobody here takes forms, and twisted.web would read each POST for one.
        super().__init__(channel, parsePOSTFormSubmission=False)
        self.id = request_id
        self.began = message.began
        self.method, self.uri, self.clientproto = message.method, message.target, message.version
        self.path = message.target.partition(b"?")[0]
        # The doors read the target themselves; twisted.web splits it at semicolons, too.
        self.args = {}
        self.content = BytesIO(message.body)
        headers = self.requestHeaders = Headers()
        for name, values in message.headers.items():
            for value in values:
                headers.addRawHeader(name, value)

    def process(self) -> None:
        """Have the site answer."""
        self.site = self.channel.site
        self.channel.site.answer(self)

    def connectionLost(self, reason: Failure) -> None:
        # Only finished requests are logged by twisted.web, and a client may leave before that.
        self.gone = True
        self.channel.site.log(self)
        super().connectionLost(reason)

    def allow(self, origin: str) -> None:
        """Let the page that asks read the answer (Fetch, section 3.3)."""
        self.setHeader("Access-Control-Allow-Origin", origin)
        self.setHeader("Access-Control-Expose-Headers", _CORS_RESPONSE_HEADERS)
        self.setHeader("Vary", "Origin")
        if self.method == b"OPTIONS":
            self.setHeader("Access-Control-Allow-Methods", _CORS_METHODS)
            self.setHeader("Access-Control-Allow-Headers", _CORS_REQUEST_HEADERS)
            self.setHeader("Access-Control-Max-Age", "600")
