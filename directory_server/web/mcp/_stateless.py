"""The stateless protocol: MCP 2026-07-28."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Sequence
from typing import Any

from attrs import frozen

from ... import serialization
from ...domain.errors import without_keys
from ...http import Request
from ...http.headers import value as header
from ...http.headers import values
from ...serialization import Message
from ..authentication import AuthenticatedRequest
from ._errors import HEADER_MISMATCH, INVALID_PARAMS, METHOD_NOT_FOUND, UNSUPPORTED_VERSION, RpcError
from ._methods import CAPABILITIES, SERVER_INFO, Methods
from ._notifications import META_SERVER_INFO
from ._stateful import VERSIONS as STATEFUL_VERSIONS

VERSIONS = ("2026-07-28",)

LISTEN = "subscriptions/listen"
"""The method whose response is a stream."""

META_VERSION = "io.modelcontextprotocol/protocolVersion"
META_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
META_CLIENT_INFO = "io.modelcontextprotocol/clientInfo"

_NAME_PARAMETERS = {"tools/call": "name", "resources/read": "uri"}
"""The parameter that the header Mcp-Name repeats, by method."""

_BEFORE_RESULT = b'{"resultType":"complete",'
_AFTER_RESULT = b',"_meta":%s}' % serialization.encode({META_SERVER_INFO: SERVER_INFO})

_CACHEABLE = {"ttlMs": 300_000, "cacheScope": "public"}


@frozen
class StatelessProtocol:
    """Handler of stateless requests; call `check` before `handle`."""

    _methods: Methods

    def check(self, message: Message, request: Request) -> None:
        """Raise RpcError for an invalid request: `_meta`, headers, version, in the order of the specification.

        A request without `_meta` is of a client that has initialized. Its error is about the version in its header.
        """
        if "_meta" not in message.params:
            sent = (header(request, "MCP-Protocol-Version") or "").strip()
            if sent not in VERSIONS:
                raise _unsupported(sent, (*STATEFUL_VERSIONS, *VERSIONS))
        version = _checked_meta(message)
        _check_headers(message, request, version)
        if version not in VERSIONS:
            raise _unsupported(version, VERSIONS)

    async def handle(self, message: Message, authenticated: AuthenticatedRequest) -> bytes:
        """Return the encoded result of a request. Raises RpcError."""
        authenticated.note_mcp_client(message.params["_meta"].get(META_CLIENT_INFO))
        if message.method == "tools/call":
            result = await self._methods.call_tool(message.params, authenticated)
        else:
            result = serialization.encode(await self._result(message, authenticated))
        # No result is an empty object.
        return b"".join((_BEFORE_RESULT, memoryview(result)[1:-1], _AFTER_RESULT))

    async def _result(self, message: Message, authenticated: AuthenticatedRequest) -> dict[str, Any]:
        match message.method:
            case "server/discover":
                return {
                    "supportedVersions": list(VERSIONS),
                    "capabilities": CAPABILITIES,
                    "instructions": self._methods.instructions,
                    **_CACHEABLE,
                }
            case "tools/list":
                return {**self._methods.list_tools(message.params), **_CACHEABLE}
            case "resources/list":
                return {**await self._methods.list_resources(message.params, authenticated), **_CACHEABLE}
            case "resources/templates/list":
                return {**self._methods.list_templates(message.params), **_CACHEABLE}
            case "resources/read":
                return {**await self._methods.read_resource(message.params, authenticated), **_CACHEABLE}
            case _:
                raise RpcError(METHOD_NOT_FOUND, f"Unknown method {str(message.method)[:100]!r}.", status=404)


def is_stateless(message: Message) -> bool:
    """Return whether the message names a protocol version in `_meta`, as stateless requests do."""
    meta = message.params.get("_meta")
    return isinstance(meta, dict) and META_VERSION in meta


def _unsupported(version: str, supported: Sequence[str]) -> RpcError:
    version = without_keys(version)
    return RpcError(
        UNSUPPORTED_VERSION,
        f"Protocol version {version[:100]!r} is not supported; supported: {', '.join(supported)}.",
        status=400,
        data={"supported": list(supported), "requested": version[:100]},
    )


def _checked_meta(message: Message) -> str:
    meta = message.params.get("_meta")
    if not isinstance(meta, dict):
        raise RpcError(INVALID_PARAMS, "params._meta: is required and must be an object.", status=400)
    version = meta.get(META_VERSION)
    if not isinstance(version, str):
        raise RpcError(INVALID_PARAMS, f"params._meta['{META_VERSION}']: is required and must be a string.", status=400)
    if not isinstance(meta.get(META_CAPABILITIES), dict):
        raise RpcError(
            INVALID_PARAMS, f"params._meta['{META_CAPABILITIES}']: is required and must be an object.", status=400
        )
    return version


def _check_headers(message: Message, request: Request, version: str) -> None:
    method = str(message.method)
    _check_header(request, "MCP-Protocol-Version", version)
    _check_header(request, "Mcp-Method", method)
    name = message.params.get(_NAME_PARAMETERS.get(method, ""))
    if isinstance(name, str):
        _check_header(request, "Mcp-Name", name)


def _check_header(request: Request, header: str, value: str) -> None:
    """Raise RpcError unless the header was sent once, with `value`."""
    sent = values(request, header)
    if len(sent) != 1:
        raise RpcError(HEADER_MISMATCH, f"The header {header} is required exactly once.", status=400)
    if _decoded(sent[0]) != value:
        raise RpcError(HEADER_MISMATCH, f"The header {header} differs from the body.", status=400)


def _decoded(value: str) -> str | None:
    """Return a header's value without surrounding whitespace, decoded if it is `=?base64?…?=`; None if invalid."""
    value = value.strip(" \t")
    if not (value.startswith("=?base64?") and value.endswith("?=")):
        return value
    try:
        return b64decode(value[9:-2], validate=True).decode()
    except ValueError:
        return None
