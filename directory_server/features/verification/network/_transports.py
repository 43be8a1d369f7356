"""The two HTTP transports of MCP: streamable HTTP, and HTTP+SSE of version 2024-11-05."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol
from urllib.parse import urljoin

from attrs import field, frozen
from twisted.web.iweb import IResponse

from ....domain.checks import RemoteStatus
from ....domain.ports.runtime import Offload
from ....http_client import BadResponse, drop, header, retry_after
from ._client import MAX_INLINE, Client, body_of, decoded, target_of
from ._ending import Ended, OtherTransport
from ._event_stream import EventReader, events_of
from ._messages import response_to

MAX_MESSAGE = 1_000_000
"""Bytes of a response, and of all events of a stream that carries one response."""

MAX_STREAM = 4 * MAX_MESSAGE
"""Bytes of a stream that carries all responses of a session."""

ACCEPT = "application/json, text/event-stream"


@frozen
class Reply:
    """The response to a message: HTTP status, JSON-RPC response if there is one, and the values of two headers.

    `challenge` is the value of WWW-Authenticate, None if the header is absent.
    """

    code: int
    message: Mapping[str, Any] | None
    session: str = ""
    challenge: str | None = None


class Transport(Protocol):
    """Sends messages to a server and returns its replies. All methods raise Ended and the errors of the network."""

    async def send(self, number: int | None, body: bytes, headers: Mapping[str, str]) -> Reply:
        """Return the reply to `body`, a request with the id `number`, or a notification if it is None."""

    async def end(self, headers: Mapping[str, str]) -> None:
        """End the session that `headers` name, if they name one."""

    def close(self) -> None:
        """Close the open stream, if there is one."""


@frozen(eq=False)
class StreamableHttp:
    """Streamable HTTP: each message is a POST, answered by JSON or by a stream of events."""

    _client: Client
    _url: str
    _offload: Offload

    async def send(self, number: int | None, body: bytes, headers: Mapping[str, str]) -> Reply:
        fields = {"Content-Type": "application/json", "Accept": ACCEPT, **headers}
        response = await _response(self._client, "POST", self._url, fields, body)
        if number is None:
            drop(response)
            return _reply(response, None)
        kind = _content_type(response)
        if kind == "application/json":
            return _reply(response, await _decoded(self._offload, number, await body_of(response)))
        if kind == "text/event-stream" and response.code == 200:
            reader = events_of(response)
            try:
                return _reply(response, await _awaited(self._offload, number, reader))
            finally:
                reader.close()
        drop(response)
        return _reply(response, None)

    async def end(self, headers: Mapping[str, str]) -> None:
        if "Mcp-Session-Id" in headers:
            drop(await self._client.request("DELETE", self._url, headers, max_bytes=MAX_MESSAGE))

    def close(self) -> None:
        pass


@frozen(eq=False)
class HttpWithEvents:
    """HTTP+SSE: a GET opens the stream of all responses, and its first event names the URL for messages."""

    _reader: EventReader
    _client: Client
    _endpoint: str
    _offload: Offload

    async def send(self, number: int | None, body: bytes, headers: Mapping[str, str]) -> Reply:
        fields = {"Content-Type": "application/json", "Accept": ACCEPT, **headers}
        response = await _response(self._client, "POST", self._endpoint, fields, body)
        drop(response)
        if number is None or response.code not in (200, 202, 204):
            return _reply(response, None)
        return _reply(response, await _awaited(self._offload, number, self._reader))

    async def end(self, headers: Mapping[str, str]) -> None:
        """The session ends with the stream."""

    def close(self) -> None:
        self._reader.close()


@frozen
class NotOpened(Exception):
    """A GET was not answered by a stream of events."""

    reply: Reply = field()


async def open_event_stream(client: Client, url: str, offload: Offload) -> HttpWithEvents:
    """Return the HTTP+SSE transport of the server at `url`. Raises NotOpened, Ended, and the errors of the network."""
    response = await _response(client, "GET", url, {"Accept": "text/event-stream"}, max_bytes=MAX_STREAM)
    if response.code != 200 or _content_type(response) != "text/event-stream":
        drop(response)
        raise NotOpened(_reply(response, None))
    reader = events_of(response)
    try:
        event = await reader.next()
        if event.name != "endpoint":
            raise OtherTransport(RemoteStatus.NOT_MCP, "Its stream does not begin with the event endpoint.")
        # The response may come from the target of a redirect.
        base = response.request.absoluteURI.decode("ascii") if response.request.absoluteURI else url
        try:
            url = urljoin(base, event.data.decode("utf-8", "replace").strip())
        except ValueError:
            raise Ended(RemoteStatus.NOT_MCP, "Its stream names an invalid endpoint.") from None
        endpoint = target_of(url)
        if endpoint.origin != target_of(base).origin:
            raise Ended(RemoteStatus.NOT_MCP, "Its stream names an endpoint on another host.")
    except BaseException:
        reader.close()
        raise
    return HttpWithEvents(reader, client, endpoint.url, offload)


async def _response(
    client: Client, method: str, url: str, headers: Mapping[str, str], body: bytes = b"", max_bytes: int = MAX_MESSAGE
) -> IResponse:
    """Return the response to a request. Raises Ended if the remote is busy, as Client.request does otherwise."""
    response = await client.request(method, url, headers, body, max_bytes=max_bytes)
    if response.code == 429:
        drop(response)
        raise Ended(RemoteStatus.BUSY, "It answered 429, too many requests.", retry_after=retry_after(response))
    return response


async def _awaited(offload: Offload, number: int, reader: EventReader) -> dict[str, Any]:
    while True:
        event = await reader.next()
        if event.name == "message" and (found := await _decoded(offload, number, event.data)) is not None:
            return found


async def _decoded(offload: Offload, number: int, body: bytes) -> dict[str, Any] | None:
    """Return the JSON-RPC response in `body`, None for invalid JSON too."""
    try:
        return await decoded(offload, response_to, body, number)
    except BadResponse:
        if len(body) > MAX_INLINE:
            raise
        return None


def _reply(response: IResponse, message: Mapping[str, Any] | None) -> Reply:
    challenges = response.headers.getRawHeaders(b"www-authenticate")
    challenge = b", ".join(challenges).decode("latin-1")[:4_096] if challenges else None
    return Reply(response.code, message, header(response, b"mcp-session-id"), challenge)


def _content_type(response: IResponse) -> str:
    return header(response, b"content-type").partition(";")[0].strip().lower()
