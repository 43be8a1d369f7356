"""MCP sessions in both eras of the protocol: handshake, tools, end."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from attrs import define, field, frozen

from .... import __version__
from ....domain.checks import MAX_TOOLS, RemoteStatus
from ....domain.ports.runtime import Offload
from ....http_client import BadResponse
from ..results import FoundTool, list_digest
from . import _messages
from ._ending import NETWORK_ERRORS, Ended, OtherTransport
from ._messages import RpcError
from ._transports import Reply, Transport

STATELESS = "2026-07-28"
"""The version whose servers keep no session; the first request is server/discover."""

STATEFUL = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
"""The versions whose sessions begin with initialize, the newest first."""

MAX_PAGES = 20
"""Pages of tools that are read."""

MAX_COUNTED = 10_000
"""Tools that are counted."""

OTHER_TRANSPORT = (400, 404, 405)
"""Status codes of a POST after which a client opens the older transport (MCP 2025-11-25, "Backwards Compatibility")."""

NEEDS_LOGIN = (401, 402, 403)
"""Status codes of a server that wants a login or a payment. API gateways send 403 without a challenge."""

_CLIENT = {"name": "directory-server", "version": __version__}

_META = "io.modelcontextprotocol/"

_VERSION = re.compile(r"[0-9A-Za-z.-]{1,40}")

_UNSUPPORTED_VERSION = -32022


@frozen
class LoginNeeded(Exception):
    """The server wants a login; `reply` is its response."""

    reply: Reply


@frozen
class Opened:
    """A server that has answered: its version of the protocol, what it says of itself, and whether it has tools."""

    protocol_version: str
    name: str
    version: str
    has_tools: bool


@define(eq=False)
class Session:
    """A session on `transport`. `answered` is called once, when the handshake is answered."""

    _transport: Transport
    _offload: Offload
    _headers_needed: bool
    _answered: Callable[[], None]
    _headers: dict[str, str] = field(factory=dict)
    _is_stateless: bool = False
    _number: int = 0

    async def discover(self) -> Opened | None:
        """Return the answer to server/discover, None if the server has to be asked with initialize."""
        self._is_stateless = True
        self._headers = {"MCP-Protocol-Version": STATELESS}
        reply = await self._ask("server/discover")
        # An older server may answer an unknown method with 403.
        if reply.code in (401, 402) or (reply.code == 403 and reply.challenge is not None):
            raise LoginNeeded(reply)
        try:
            result = _messages.result_of(reply.message) if reply.message is not None else {}
            versions = _texts(result.get("supportedVersions"))
        except RpcError as error:
            data = error.data if isinstance(error.data, dict) else {}
            result, versions = {}, _texts(data.get("supported")) if error.code == _UNSUPPORTED_VERSION else []
        except BadResponse:
            result, versions = {}, []
        if STATELESS in versions and result:
            self._answered()
            meta = result.get("_meta")
            return _opened(STATELESS, meta.get(f"{_META}serverInfo") if isinstance(meta, dict) else None, result)
        if versions and not any(version in STATEFUL for version in versions):
            # A version of the protocol that is newer than this client: the server works, its tools stay unknown.
            self._answered()
            return Opened(_version(versions[0]), "", "", False)
        return None

    async def initialize(self) -> Opened:
        """Return the answer to initialize. Raises LoginNeeded, and Ended if the server does not speak MCP.

        Raises OtherTransport if it may speak the other transport.
        """
        self._is_stateless = False
        self._headers = {}
        params = {"protocolVersion": STATEFUL[0], "capabilities": {}, "clientInfo": _CLIENT}
        reply = await self._ask("initialize", params)
        self._check_login(reply)
        if reply.message is None:
            raise _not_mcp(reply.code)
        try:
            result = _messages.result_of(reply.message)
        except RpcError as error:
            if self._headers_needed:
                raise LoginNeeded(reply) from None
            raise Ended(RemoteStatus.NOT_MCP, f"It rejected initialize: {error.message or error.code}") from None
        version = _version(result.get("protocolVersion"))
        if not version:
            raise Ended(RemoteStatus.NOT_MCP, "Its answer to initialize has no version of the protocol.")
        self._answered()
        self._headers = {"MCP-Protocol-Version": version}
        if reply.session:
            self._headers["Mcp-Session-Id"] = reply.session
        await self._transport.send(None, _messages.notification("notifications/initialized"), self._headers)
        return _opened(version, result.get("serverInfo"), result)

    async def tools(self) -> tuple[tuple[FoundTool, ...], bool, str]:
        """Return the tools, of which the first MAX_TOOLS have their texts, whether there are more, and their digest.

        Raises LoginNeeded, RpcError, BadResponse, Ended, and the errors of the network.
        """
        found: dict[str, FoundTool] = {}
        documents: list[tuple[str, bytes]] = []
        cursor = ""
        for _ in range(MAX_PAGES):
            reply = await self._ask("tools/list", {"cursor": cursor} if cursor else {})
            if reply.code in NEEDS_LOGIN:
                raise LoginNeeded(reply)
            if reply.message is None:
                raise BadResponse(f"It answered {reply.code} without a list of tools.")
            result = _messages.result_of(reply.message)
            page = await self._offload(_messages.tools_page, result, MAX_TOOLS - len(found))
            for tool in page.tools:
                found.setdefault(tool.name, tool)
            documents += page.documents
            if len(found) > MAX_COUNTED:
                break
            if not page.next or page.next == cursor or not page.tools:
                return tuple(found.values()), False, await self._offload(list_digest, documents)
            cursor = page.next
        return tuple(found.values())[:MAX_COUNTED], True, ""

    async def end(self) -> None:
        """End the session of the server. Errors are ignored."""
        try:
            await self._transport.end(self._headers)
        except (*NETWORK_ERRORS, Ended):
            return

    async def _ask(self, method: str, params: Mapping[str, Any] | None = None) -> Reply:
        self._number += 1
        headers, values = dict(self._headers), dict(params or {})
        if self._is_stateless:
            headers["Mcp-Method"] = method
            values["_meta"] = {
                f"{_META}protocolVersion": STATELESS,
                f"{_META}clientInfo": _CLIENT,
                f"{_META}clientCapabilities": {},
            }
        return await self._transport.send(self._number, _messages.request(self._number, method, values), headers)

    def _check_login(self, reply: Reply) -> None:
        """Raise LoginNeeded or Ended if `reply` is no answer to initialize."""
        code = reply.code
        wants_headers = self._headers_needed and code in (400, 422)
        if code in NEEDS_LOGIN or wants_headers:
            raise LoginNeeded(reply)
        if code >= 500:
            raise Ended(RemoteStatus.UNREACHABLE, f"It answered {code}.")


def _not_mcp(code: int) -> Ended:
    if 200 <= code < 300:
        return Ended(RemoteStatus.NOT_MCP, f"It answered {code} without a message of MCP.")
    return (OtherTransport if code in OTHER_TRANSPORT else Ended)(RemoteStatus.NOT_MCP, f"It answered {code}.")


def _opened(protocol_version: str, info: Any, result: Mapping[str, Any]) -> Opened:
    said = info if isinstance(info, dict) else {}
    capabilities = result.get("capabilities")
    has_tools = isinstance(capabilities, dict) and isinstance(capabilities.get("tools"), dict)
    return Opened(protocol_version, _messages.line(said.get("name")), _messages.line(said.get("version")), has_tools)


def _texts(value: Any) -> list[str]:
    return [each for each in value[:20] if isinstance(each, str) and _version(each)] if isinstance(value, list) else []


def _version(value: Any) -> str:
    """Return a version of the protocol, which goes into a header; "" if it is none."""
    return value if isinstance(value, str) and _VERSION.fullmatch(value) else ""
