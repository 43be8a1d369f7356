"""The stateful protocol: MCP 2024-11-05 to 2025-11-25, whose sessions begin with `initialize`; signed session ids."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Coroutine
from hmac import compare_digest, digest
from secrets import token_urlsafe
from typing import Any

from attrs import frozen

from ... import serialization
from ...serialization import Message
from ..authentication import AuthenticatedRequest
from ._errors import METHOD_NOT_FOUND, RpcError
from ._methods import CAPABILITIES, SERVER_INFO, Methods

VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")

DEFAULT_VERSION = "2025-03-26"
"""The version of a client that sends no version header (MCP 2025-11-25, Protocol Version Header)."""


@frozen
class StatefulProtocol:
    """Handler of stateful requests. Its errors have HTTP status 200."""

    _methods: Methods

    def handle(self, message: Message, authenticated: AuthenticatedRequest) -> Coroutine[Any, Any, bytes]:
        """Return the encoded result of a request. Raises RpcError, for some errors at once."""
        if message.method == "tools/call":
            # Most requests call a tool. A further coroutine would run at each step of them.
            return self._methods.call_tool(message.params, authenticated)
        return self._encoded(message, authenticated)

    async def _encoded(self, message: Message, authenticated: AuthenticatedRequest) -> bytes:
        return serialization.encode(await self._result(message, authenticated))

    async def _result(self, message: Message, authenticated: AuthenticatedRequest) -> dict[str, Any]:
        match message.method:
            case "initialize":
                authenticated.note_mcp_client(message.params.get("clientInfo"))
                return _initialize_result(message.params.get("protocolVersion"), self._methods.instructions)
            case "ping":
                return {}
            case "tools/list":
                return self._methods.list_tools(message.params)
            case "resources/list":
                return await self._methods.list_resources(message.params, authenticated)
            case "resources/templates/list":
                return self._methods.list_templates(message.params)
            case "resources/read":
                return await self._methods.read_resource(message.params, authenticated)
            case _:
                raise RpcError(METHOD_NOT_FOUND, f"Unknown method {str(message.method)[:100]!r}.")


def _initialize_result(version: object, instructions: str) -> dict[str, Any]:
    return {
        "protocolVersion": version if version in VERSIONS else VERSIONS[-1],
        "capabilities": CAPABILITIES,
        "serverInfo": SERVER_INFO,
        "instructions": instructions,
    }


@frozen
class McpSessions:
    """Issuer and verifier of session ids: a nonce and an HMAC of the nonce and the key's id.

    Each process with the same `secret` accepts them, before and after a restart. A rotated key keeps its id and so
    its sessions.
    """

    _secret: bytes

    def issue(self, key_id: str) -> str:
        """Return a new session id for a key: visible ASCII (MCP 2025-11-25, Session Management)."""
        nonce = token_urlsafe(16)
        return f"{nonce}.{self._signature(nonce, key_id)}"

    def is_valid(self, session: str, key_id: str) -> bool:
        """Return whether `session` was issued for this key."""
        nonce, _, signature = session.partition(".")
        return compare_digest(signature.encode(), self._signature(nonce, key_id).encode())

    def _signature(self, nonce: str, key_id: str) -> str:
        mac = digest(self._secret, f"{nonce}.{key_id}".encode(), "sha256")
        return urlsafe_b64encode(mac[:16]).rstrip(b"=").decode()
