"""The endpoint `/api/open/mcp`: one path, three methods, two eras."""

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
from ...services.directory import Directory
from ...streams import Hub
from ..authentication import AuthenticatedRequest, Authenticator
from ..error_responses import error_response, respond_with_error
from ..responses import empty_response, json_response
from ._announcements import Announcements
from ._errors import INVALID_PARAMS, INVALID_REQUEST, RESOURCE_NOT_FOUND, RpcError, error_object, rpc_code
from ._methods import CHARGED, Methods
from ._resources import NewestEntries
from ._sessions import McpSessions
from ._stateful import ASSUMED, StatefulProtocol
from ._stateful import VERSIONS as LEGACY_VERSIONS
from ._stateless import LISTEN, StatelessProtocol, is_stateless
from ._subscriptions import acknowledged, ended, honoured

PATH = b"/api/open/mcp"

MAX_BATCH = 50
"""Messages in one batch."""

MAX_FREE = 20
"""Requests in one batch that cost nothing: a client needs each of them once."""

BATCH_BYTES = 4 * 1_048_576
"""Bytes of the answers to a batch from which on its other requests are refused."""


def rpc_body(refused: ErrorResponse, identity: serialization.Id | None = None) -> dict[str, Any]:
    """Return the body of a refusal on this door; `error` in its data is the code that REST would give."""
    return error_object(rpc_code(refused), refused.message, identity, {"error": refused.code})


@frozen
class McpEndpoint:
    """Answers the methods of the endpoint."""

    _authenticator: Authenticator
    _sessions: McpSessions
    _legacy: StatefulProtocol
    _modern: StatelessProtocol
    _hub: Hub
    _announcements: Announcements

    async def post(self, request: Request) -> bytes | None:
        """Answer a message, or a batch of them where the protocol's version has batches."""
        async with self._authenticator.authenticate(request) as visit:
            value = None
            try:
                _check_content_type(request)
                value = serialization.decode(request.content.read())
                answer = self._batch if isinstance(value, list) else self._single
                return await answer(value, request, visit)
            except RpcError as error:
                visit.note_error(error.name)
                return json_response(request, error.response(serialization.message_id(value)), error.status)
            except CancelledError:
                raise
            except Exception:
                return respond_with_error(
                    request, Failure(), partial(rpc_body, identity=serialization.message_id(value))
                )

    async def get(self, request: Request) -> bytes | None:
        """Answer a stream of events, which ends when the client leaves, its key is revoked or the server stops."""
        async with self._authenticator.authenticate(request) as visit:
            if _is_modern(request):
                return _not_here(request, "POST", "This version of the protocol has no GET.")
            self._check_session(request, visit)
            if request.method == b"HEAD":
                request.setHeader("Content-Type", "text/event-stream")
                return b""
            await visit.report_quota()
            if full := self._hub.limit_error(visit.key.id):
                # 405 alone makes every client go on without a stream.
                return _not_here(request, "POST", full)
            self._hub.open(request, visit.key.id, self._announcements.channel(None))
            return None

    async def delete(self, request: Request) -> bytes:
        """Refuse to end a session: nothing is kept of one."""
        async with self._authenticator.authenticate(request):
            allowed = "POST" if _is_modern(request) else "GET, POST"
            return _not_here(request, allowed, "Nothing is kept of a session, so there is none to end.")

    async def tools(self, request: Request, secret: str) -> Sequence[str]:
        """Return the names of the tools that tools/list returns for the key of `secret`.

        `request` is the request of the page that tests the key. Raises the errors of `Authenticator.authenticate`.
        """
        async with self._authenticator.authenticate(request, secret) as visit:
            asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
            listed = serialization.decode(
                serialization.encode(await self._legacy.answer(serialization.message(asked), visit))
            )
            return [tool["name"] for tool in listed["tools"]]

    async def _single(self, value: Any, request: Request, visit: AuthenticatedRequest) -> bytes | None:
        message = serialization.message(value)
        modern = _is_modern(request, message)
        if not modern and message.method != "initialize":
            self._check_session(request, visit)
        if not message.wants_answer:
            return empty_response(request, 202)
        if modern:
            self._modern.check(message, request)
            if message.method == LISTEN:
                await self._listen(message, request, visit)
                return None
            result = await self._modern.answer(message, visit)
        else:
            result = await self._legacy.answer(message, visit)
        if message.method == "initialize":
            request.setHeader("Mcp-Session-Id", self._sessions.issue(visit.key.id))
        return json_response(request, _response(message, result))

    async def _listen(self, message: serialization.Message, request: Request, visit: AuthenticatedRequest) -> None:
        """Answer a subscription by a stream, which is acknowledged first and ends with the result."""
        assert message.id is not None
        notifications = honoured(message.id, message.params)
        if full := self._hub.limit_error(visit.key.id):
            raise RpcError(INVALID_REQUEST, full, data={"error": "too_many_streams"})
        await visit.report_quota()
        channel = self._announcements.channel(message.id) if notifications else None
        first, last = acknowledged(message.id, notifications), ended(message.id)
        self._hub.open(request, visit.key.id, channel, first, last=last)

    async def _batch(self, values: list[Any], request: Request, visit: AuthenticatedRequest) -> bytes:
        version = header(request, "MCP-Protocol-Version") or ASSUMED
        if version != ASSUMED:
            raise BadInput(f"Version {version[:100]} of the protocol has no batches.", code="invalid_request")
        if not 1 <= len(values) <= MAX_BATCH:
            raise BadInput(f"A batch has 1 to {MAX_BATCH} messages, not {len(values)}.", code="invalid_request")
        self._check_session(request, visit)
        answers: list[bytes] = []
        size = free = 0
        for value in values:
            answer = await self._one_of_many(value, visit, size >= BATCH_BYTES, free >= MAX_FREE)
            if answer is not None:
                answers.append(serialization.encode(answer))
                size += len(answers[-1])
                free += not _is_charged(value)
        return json_response(request, b"[%s]" % b",".join(answers)) if answers else empty_response(request, 202)

    async def _one_of_many(
        self, value: Any, visit: AuthenticatedRequest, is_large: bool, is_spent: bool
    ) -> dict[str, Any] | None:
        """Return the answer to a message of a batch, None for a notification.

        `is_large` is whether the answers before have as many bytes as a batch may have, and `is_spent` whether there
        have been as many requests that cost nothing.
        """
        try:
            message = serialization.message(value)
            if not message.wants_answer:
                return None
            if message.method == "initialize":
                raise RpcError(INVALID_REQUEST, "initialize must not be part of a batch.")
            if is_large:
                reason = f"The answers before this one have {BATCH_BYTES:,} bytes. Send this request by itself."
                raise RpcError(INVALID_REQUEST, reason, data={"error": "batch_too_large"})
            if is_spent and message.method not in CHARGED:
                reason = f"A batch may have {MAX_FREE} requests that cost nothing. Send this one in another."
                raise RpcError(INVALID_REQUEST, reason, data={"error": "batch_too_large"})
            return _response(message, await self._legacy.answer(message, visit))
        except RpcError as error:
            visit.note_error(error.name)
            return error.response(serialization.message_id(value))
        except DirectoryError as error:
            visit.note_error(error.code)
            return rpc_body(error_response(Failure()), serialization.message_id(value))

    def _check_session(self, request: Request, visit: AuthenticatedRequest) -> None:
        session = header(request, "Mcp-Session-Id")
        if session is not None and not self._sessions.recognise(session, visit.key.id):
            raise NotFound("This session is unknown; initialize a new one.", code="unknown_session")


def endpoint(
    gate: Authenticator,
    directory: Directory,
    newest: NewestEntries,
    sessions: McpSessions,
    hub: Hub,
    announcements: Announcements,
) -> McpEndpoint:
    """Return the endpoint through which `directory` answers."""
    legacy = StatefulProtocol(Methods(directory, newest, refused=200, absent=RESOURCE_NOT_FOUND))
    modern = StatelessProtocol(Methods(directory, newest, refused=400, absent=INVALID_PARAMS))
    return McpEndpoint(gate, sessions, legacy, modern, hub, announcements)


def _is_charged(value: Any) -> bool:
    """Return whether a message of a batch costs a request of the quota; `value` is what a client sent."""
    method = value.get("method") if isinstance(value, dict) else None
    return isinstance(method, str) and method in CHARGED


def _is_modern(request: Request, message: serialization.Message | None = None) -> bool:
    version = header(request, "MCP-Protocol-Version")
    if version is None:
        return message is not None and is_stateless(message)
    return version.strip() not in LEGACY_VERSIONS


def _check_content_type(request: Request) -> None:
    given = header(request, "Content-Type")
    if given is not None and given.partition(";")[0].strip().lower() != "application/json":
        raise RpcError(INVALID_REQUEST, "Content-Type: must be application/json.", status=415)
    if header(request, "Content-Encoding") not in (None, "identity"):
        raise RpcError(INVALID_REQUEST, "Content-Encoding: bodies are read as they are, without any.", status=415)


def _response(message: serialization.Message, result: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": message.id, "result": result}


def _not_here(request: Request, allow: str, message: str) -> bytes:
    return json_response(request, rpc_body(ErrorResponse(405, "method_not_allowed", message)), 405, Allow=allow)
