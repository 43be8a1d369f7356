"""The endpoint `/api/open/mcp`: POST, GET and DELETE for stateful and stateless protocol versions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from attrs import frozen
from twisted.internet.defer import CancelledError
from twisted.python.failure import Failure

from ... import serialization
from ...domain.errors import BadInput, DirectoryError, NotFound
from ...http import Request
from ...http.errors import ErrorResponse
from ...http.headers import value as header
from ...services.catalogue import Catalogue
from ...streams import Hub
from ..authentication import AuthenticatedRequest, Authenticator
from ..error_responses import error_response, respond_with_error
from ..responses import empty_response, json_response
from ..routes import App
from ._errors import INVALID_PARAMS, INVALID_REQUEST, MCP, RESOURCE_NOT_FOUND, RpcError, rpc_body
from ._methods import CHARGED, Methods, NewestEntries
from ._notifications import Announcements, accepted_notifications, acknowledgement, final_result
from ._stateful import DEFAULT_VERSION, McpSessions, StatefulProtocol
from ._stateful import VERSIONS as STATEFUL_VERSIONS
from ._stateless import LISTEN, StatelessProtocol, is_stateless
from ._tools import tool_set

PATH = b"/api/open/mcp"

MAX_BATCH = 50
"""Maximum messages in one batch."""

MAX_FREE_REQUESTS = 20
"""Maximum requests in one batch that are not charged: a client needs each of them once."""

BATCH_BYTES = 4 * 1_048_576
"""Bytes of responses to a batch after which its remaining requests are rejected."""


@frozen
class McpEndpoint:
    """Handler of the endpoint's HTTP methods."""

    app = App(MCP)

    _authenticator: Authenticator
    _catalogue: Catalogue
    _sessions: McpSessions
    _stateful: StatefulProtocol
    _stateless: StatelessProtocol
    _hub: Hub
    _announcements: Announcements

    @app.post("/api/open/mcp")
    async def post(self, request: Request) -> bytes | None:
        """Respond to a message, or to a batch of messages in the protocol version that has batches."""
        async with self._authenticator.authenticate(request) as authenticated:
            value = None
            try:
                _check_content_type(request)
                value = serialization.decode(request.body)
                handle = self._batch if isinstance(value, list) else self._single
                return await handle(value, request, authenticated)
            except RpcError as error:
                authenticated.note_error(error.name)
                return json_response(request, error.response(serialization.message_id(value)), error.status)
            except CancelledError:
                raise
            except Exception:
                return respond_with_error(
                    request, Failure(), partial(rpc_body, identity=serialization.message_id(value))
                )

    @app.get("/api/open/mcp")
    async def get(self, request: Request) -> bytes | None:
        """Open an event stream, which ends when the client disconnects, its key is revoked or the server stops."""
        async with self._authenticator.authenticate(request) as authenticated:
            if _uses_stateless(request):
                return _method_not_allowed(request, "POST", "This protocol version does not support GET.")
            self._check_session(request, authenticated)
            if request.method == b"HEAD":
                request.setHeader("Content-Type", "text/event-stream")
                return b""
            await authenticated.report_quota()
            if error := self._hub.limit_error(authenticated.key.id):
                # Only 405 makes every client continue without a stream.
                return _method_not_allowed(request, "POST", error)
            scope = self._catalogue.scope_of(request)
            channel = self._announcements.channel(None, scope)
            self._hub.open(request, authenticated.key.id, channel, is_scoped=scope is not None)
            return None

    @app.delete("/api/open/mcp")
    async def delete(self, request: Request) -> bytes:
        """Reject the request: the server stores no sessions."""
        async with self._authenticator.authenticate(request):
            allowed = "POST" if _uses_stateless(request) else "GET, POST"
            return _method_not_allowed(request, allowed, "The server stores no sessions, so there is none to end.")

    async def tools(self, request: Request, secret: str) -> Sequence[str]:
        """Return the names of the tools that tools/list returns for the key of `secret`.

        `request` is the request of the page that tests the key. Raises the errors of `Authenticator.authenticate`.
        """
        async with self._authenticator.authenticate(request, secret) as authenticated:
            message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
            result = serialization.decode(await self._stateful.handle(serialization.message(message), authenticated))
            return [tool["name"] for tool in result["tools"]]

    async def _single(self, value: Any, request: Request, authenticated: AuthenticatedRequest) -> bytes | None:
        message = serialization.message(value)
        stateless = _uses_stateless(request, message)
        if not stateless and message.method != "initialize":
            self._check_session(request, authenticated)
        if not message.is_request:
            return empty_response(request, 202)
        if stateless:
            self._stateless.check(message, request)
            if message.method == LISTEN:
                await self._listen(message, request, authenticated)
                return None
            result = await self._stateless.handle(message, authenticated)
        else:
            result = await self._stateful.handle(message, authenticated)
        if message.method == "initialize":
            request.setHeader("Mcp-Session-Id", self._sessions.issue(authenticated.key.id))
        return json_response(request, _response(message, result))

    async def _listen(
        self, message: serialization.Message, request: Request, authenticated: AuthenticatedRequest
    ) -> None:
        """Open the stream of a subscription, which begins with an acknowledgement and ends with the result."""
        assert message.id is not None
        notifications = accepted_notifications(message.params)
        if error := self._hub.limit_error(authenticated.key.id):
            raise RpcError(INVALID_REQUEST, error, data={"error": "too_many_streams"})
        await authenticated.report_quota()
        scope = self._catalogue.scope_of(request)
        channel = self._announcements.channel(message.id, scope) if notifications else None
        first, last = acknowledgement(message.id, notifications), final_result(message.id)
        self._hub.open(request, authenticated.key.id, channel, first, last=last, is_scoped=scope is not None)

    async def _batch(self, values: list[Any], request: Request, authenticated: AuthenticatedRequest) -> bytes:
        version = header(request, "MCP-Protocol-Version") or DEFAULT_VERSION
        if version != DEFAULT_VERSION:
            raise BadInput(f"Protocol version {version[:100]} does not support batches.", code="invalid_request")
        if not 1 <= len(values) <= MAX_BATCH:
            raise BadInput(f"A batch must have 1 to {MAX_BATCH} messages, not {len(values)}.", code="invalid_request")
        self._check_session(request, authenticated)
        responses: list[bytes] = []
        size = free = 0
        for value in values:
            response = await self._batch_item(value, authenticated, size >= BATCH_BYTES, free >= MAX_FREE_REQUESTS)
            if response is not None:
                responses.append(response)
                size += len(response)
                free += not _is_charged(value)
        return json_response(request, b"[%s]" % b",".join(responses)) if responses else empty_response(request, 202)

    async def _batch_item(
        self, value: Any, authenticated: AuthenticatedRequest, is_full: bool, is_free_exhausted: bool
    ) -> bytes | None:
        """Return the encoded response to a message of a batch, None for a notification.

        `is_full`: the earlier responses have reached BATCH_BYTES. `is_free_exhausted`: the batch has had
        MAX_FREE_REQUESTS requests that are not charged.
        """
        try:
            message = serialization.message(value)
            if not message.is_request:
                return None
            if message.method == "initialize":
                raise RpcError(INVALID_REQUEST, "initialize must not be part of a batch.")
            if is_full:
                reason = f"The earlier responses have reached {BATCH_BYTES:,} bytes. Send this request separately."
                raise RpcError(INVALID_REQUEST, reason, data={"error": "batch_too_large"})
            if is_free_exhausted and message.method not in CHARGED:
                reason = f"A batch must have at most {MAX_FREE_REQUESTS} free requests. Send this one in another batch."
                raise RpcError(INVALID_REQUEST, reason, data={"error": "batch_too_large"})
            return _response(message, await self._stateful.handle(message, authenticated))
        except RpcError as error:
            authenticated.note_error(error.name)
            return serialization.encode(error.response(serialization.message_id(value)))
        except DirectoryError as error:
            authenticated.note_error(error.code)
            return serialization.encode(rpc_body(error_response(Failure()), serialization.message_id(value)))

    def _check_session(self, request: Request, authenticated: AuthenticatedRequest) -> None:
        sent = request.received.get(b"mcp-session-id")
        if sent and not self._sessions.is_valid(sent[-1].decode("latin-1"), authenticated.key.id):
            raise NotFound("This session is unknown; initialize a new one.", code="unknown_session")


def endpoint(
    authenticator: Authenticator,
    catalogue: Catalogue,
    newest: NewestEntries,
    sessions: McpSessions,
    hub: Hub,
    announcements: Announcements,
    *,
    search_tools: bool = False,
) -> McpEndpoint:
    """Return the MCP endpoint of `catalogue`. With `search_tools`, it offers this tool, too."""
    tools = tool_set(search_tools=search_tools)
    stateful = StatefulProtocol(
        Methods(catalogue, newest, error_status=200, missing_code=RESOURCE_NOT_FOUND, tools=tools)
    )
    stateless = StatelessProtocol(
        Methods(catalogue, newest, error_status=400, missing_code=INVALID_PARAMS, tools=tools)
    )
    return McpEndpoint(authenticator, catalogue, sessions, stateful, stateless, hub, announcements)


def _is_charged(value: Any) -> bool:
    """Return whether a message of a batch costs one request of the quota; `value` is not validated."""
    method = value.get("method") if isinstance(value, dict) else None
    return isinstance(method, str) and method in CHARGED


def _uses_stateless(request: Request, message: serialization.Message | None = None) -> bool:
    """Return whether a request is of the stateless protocol: by its header, or by `_meta` where no header decides."""
    version = header(request, "MCP-Protocol-Version")
    # The body of an initialize request negotiates the version. The header counts from the next request on.
    if version is None or (message is not None and message.method == "initialize"):
        return message is not None and is_stateless(message)
    return version.strip() not in STATEFUL_VERSIONS


def _check_content_type(request: Request) -> None:
    content_type = header(request, "Content-Type")
    if content_type is not None and content_type.partition(";")[0].strip().lower() != "application/json":
        raise RpcError(INVALID_REQUEST, "Content-Type must be application/json.", status=415)
    if header(request, "Content-Encoding") not in (None, "identity"):
        raise RpcError(INVALID_REQUEST, "Content-Encoding must be absent or identity.", status=415)


def _response(message: serialization.Message, result: bytes) -> bytes:
    """Return the encoded response with an encoded result."""
    return b"".join((b'{"jsonrpc":"2.0","id":', serialization.encode(message.id), b',"result":', result, b"}"))


def _method_not_allowed(request: Request, allow: str, message: str) -> bytes:
    return json_response(request, rpc_body(ErrorResponse(405, "method_not_allowed", message)), 405, Allow=allow)
