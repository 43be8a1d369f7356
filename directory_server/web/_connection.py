"""A connection of HTTP/1.1, and how an answer that has no end takes it over."""

from __future__ import annotations

from typing import Any

from twisted.internet.interfaces import IProtocol
from twisted.protocols.policies import ProtocolWrapper
from twisted.web.http import HTTPChannel
from twisted.web.server import Request


class Connection(HTTPChannel):
    """Parses requests until one of them is answered without an end; then nothing of HTTP stays in memory."""

    transport: Any
    _heir: IProtocol | None = None

    def hand_over(self, request: Request, heir: IProtocol) -> bytes:
        """Finish `request` and leave the connection to `heir`; return the head of the answer, for `heir` to send.

        The answer ends where the connection does (RFC 9112, section 6.3), which suits HTTP/1.0 too, and lets the
        same bytes go to everybody. What the client sends from now on goes to `heir`.
        """
        headers = request.responseHeaders
        headers.setRawHeaders(b"Connection", [b"close"])
        lines = [b"%s %d %s" % (request.clientproto, request.code, request.code_message)]
        lines += [b"%s: %s" % (name, value) for name, values in headers.getAllRawHeaders() for value in values]
        self._heir = heir
        # So that twisted.web writes no head of its own, which would announce chunks.
        request.startedWriting = 1
        request.finish()
        return b"\r\n".join(lines) + b"\r\n\r\n"

    def requestDone(self, request: Request) -> None:
        if self._heir is None:
            super().requestDone(request)
            return
        # As the channel does before it turns to the next request, of which there will be none.
        self.requests.remove(request)
        transport = self.transport
        transport.unregisterProducer()
        # TLS and PROXY wrap the transport, and pass what they receive to a protocol under another name.
        if isinstance(transport, ProtocolWrapper):
            transport.wrappedProtocol = self._heir
        else:
            transport.protocol = self._heir
        # Reading may have been paused over what the client sent too early.
        transport.resumeProducing()
        self._heir.makeConnection(transport)
        del self._heir
