"""Fake remotes of MCP: servers of both eras of the protocol, slow ones, hostile ones, and servers of something else."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from typing import Any

from attrs import define, field
from twisted.web.resource import Resource
from twisted.web.server import NOT_DONE_YET, Request

from .hostile_responses import HOSTILE
from .plain_responses import PLAIN

OAUTH_SERVER = "https://login.example/"


def tools(count: int, start: int = 0) -> list[dict[str, Any]]:
    """Return `count` tools from the number `start`."""
    schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    return [
        {"name": f"weather_{number}", "description": f"Forecast {number} of a city.", "inputSchema": schema}
        for number in range(start, start + count)
    ]


@define(eq=False, slots=False)
class FakeRemotes(Resource):
    """The remotes of one address.

    `robots` is its robots.txt, None for 404. `requests` has method, path and headers of each request, `called` the
    methods of JSON-RPC. `targets` has the target of a redirect by path, of the metadata of the path /login-to, and the
    endpoint that the stream of the path /sse-elsewhere names.
    """

    isLeaf = True

    robots: bytes | None = None
    requests: list[tuple[str, str, dict[str, str]]] = field(factory=list)
    called: list[str] = field(factory=list)
    records: bool = True
    targets: dict[str, str] = field(factory=dict)
    _streams: dict[str, Request] = field(factory=dict)
    _counts: Counter[str] = field(factory=Counter)

    def __attrs_post_init__(self) -> None:
        Resource.__init__(self)

    def render(self, request: Request) -> Any:
        path = request.path.decode()
        if self.records:
            headers = {k.decode().lower(): v[0].decode() for k, v in request.requestHeaders.getAllRawHeaders()}
            self.requests.append((request.method.decode(), path, headers))
        if path in self.targets and path != "/sse-elsewhere":
            target = self.targets[path].encode()
            if path != "/login-to":
                return _redirect(request, target)
            request.setHeader(b"www-authenticate", b'Bearer resource_metadata="%b"' % target)
            return _status(request, 401)
        if path == "/robots.txt":
            request.setHeader(b"content-type", b"text/plain")
            request.setResponseCode(404 if self.robots is None else 200)
            return self.robots or b""
        kind = path.split("/")[1]
        if kind == ".well-known":
            return self._metadata(request, path)
        if request.method == b"DELETE":
            return b""
        special: Callable[[Request], Any] | None = HOSTILE.get(kind) or PLAIN.get(kind)
        special = special or getattr(self, f"serve_{kind.replace('-', '_')}", None)
        if special is not None:
            return special(request)
        if request.method != b"POST":
            return _status(request, 405)
        return self._answer(request, kind)

    def _metadata(self, request: Request, path: str) -> bytes:
        if path == "/.well-known/oauth-protected-resource/login-well-known":
            return _json(request, {"resource": "x", "authorization_servers": [OAUTH_SERVER]})
        return _status(request, 404)

    def _message(self, request: Request) -> dict[str, Any]:
        assert request.content is not None
        message: dict[str, Any] = json.loads(request.content.read())
        if self.records:
            self.called.append(message["method"])
        return message

    def _answer(self, request: Request, kind: str) -> Any:
        message = self._message(request)
        if "id" not in message:
            return _status(request, 202, b"")
        result = self._result(request, kind, message["method"], message.get("params", {}))
        if isinstance(result, int):
            return _status(request, result)
        key = "error" if "code" in result else "result"
        reply = {"jsonrpc": "2.0", "id": message["id"], key: result}
        if kind != "stateful-events":
            return _json(request, reply)
        request.setHeader(b"content-type", b"text/event-stream")
        progress = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "…"}}
        request.write(_event(progress) + _event(reply))
        # The stream stays open, as the protocol allows.
        return NOT_DONE_YET

    def _result(self, request: Request, kind: str, method: str, params: dict[str, Any]) -> dict[str, Any] | int:
        info = {"name": f"fake {kind}", "version": "1.2.3"}
        capabilities: dict[str, Any] = {} if kind == "no-tools" else {"tools": {}}
        if kind == "rejecting":
            return {"code": -32603, "message": "Not today."}
        if method == "server/discover":
            if kind != "modern":
                return 400
            assert request.getHeader(b"mcp-method") == b"server/discover"
            return {
                "resultType": "complete",
                "supportedVersions": ["2026-07-28"],
                "capabilities": capabilities,
                "_meta": {"io.modelcontextprotocol/serverInfo": info},
            }
        if method == "initialize":
            if kind == "modern":
                return 404
            if kind != "sessionless":
                request.setHeader(b"mcp-session-id", b"session-1")
            return {"protocolVersion": "2025-06-18", "capabilities": capabilities, "serverInfo": info}
        assert method == "tools/list", method
        if kind not in ("modern", "sessionless") and request.getHeader(b"mcp-session-id") != b"session-1":
            return 404
        return self._tools(request, kind, params)

    def _tools(self, request: Request, kind: str, params: dict[str, Any]) -> dict[str, Any] | int:
        start = int(params.get("cursor", 0))
        if kind == "tools-login":
            request.setHeader(b"www-authenticate", b"Bearer")
            return 401
        if kind == "paged":
            return {"tools": tools(3, start), **({"nextCursor": str(start + 3)} if start < 6 else {})}
        if kind == "endless-pages":
            return {"tools": tools(2, start), "nextCursor": str(start + 2)}
        if kind == "gigantic":
            return {"tools": tools(1_000)}
        if kind == "changing":
            self._counts[kind] += 1
            return {"tools": tools(self._counts[kind])}
        return {"tools": tools(2)}

    def serve_login_key(self, request: Request) -> bytes:
        request.setHeader(b"www-authenticate", b'Bearer realm="x"')
        return _status(request, 401)

    def serve_login_oauth(self, request: Request) -> bytes:
        if request.path.endswith(b"/metadata"):
            return _json(request, {"resource": "x", "authorization_servers": [OAUTH_SERVER]})
        metadata = b"http://%b/login-oauth/metadata" % (request.getHeader(b"host") or b"")
        request.setHeader(b"www-authenticate", b'Bearer error="invalid_token", resource_metadata="%b"' % metadata)
        return _status(request, 401)

    def serve_redirect_same(self, request: Request) -> Any:
        if request.path.endswith(b"/to"):
            return self._answer(request, "stateful")
        return _redirect(request, request.path + b"/to")

    def serve_redirect_away(self, request: Request) -> bytes:
        return _redirect(request, b"https://elsewhere.example/mcp")

    def serve_redirect_loop(self, request: Request) -> bytes:
        return _redirect(request, request.path)

    def serve_other_json(self, request: Request) -> bytes:
        return _json(request, {"hello": "world"})

    def serve_silent_discover(self, request: Request) -> Any:
        assert request.content is not None
        if b"server/discover" in request.content.read():
            return NOT_DONE_YET
        request.content.seek(0)
        return self._answer(request, "stateful")

    def serve_sse(self, request: Request) -> Any:
        if request.method == b"GET":
            self._counts["sse"] += 1
            number = str(self._counts["sse"])
            self._streams[number] = request
            request.notifyFinish().addBoth(lambda _: self._streams.pop(number, None))
            request.setHeader(b"content-type", b"text/event-stream; charset=utf-8")
            request.write(b"event: endpoint\r\ndata: %b/messages?id=%b\r\n\r\n" % (request.path, number.encode()))
            return NOT_DONE_YET
        if not request.path.endswith(b"/messages"):
            return _status(request, 405)
        message = self._message(request)
        if "id" in message:
            stream = self._streams[request.args[b"id"][0].decode()]
            request.requestHeaders.setRawHeaders(b"mcp-session-id", [b"session-1"])
            result = self._result(request, "sse", message["method"], message.get("params", {}))
            stream.write(_event({"jsonrpc": "2.0", "id": message["id"], "result": result}))
        return _status(request, 202, b"Accepted")

    def serve_old_transport(self, request: Request) -> Any:
        """Serve the transport with events, declared as streamable HTTP."""
        return self.serve_sse(request)

    def serve_sse_not(self, request: Request) -> Any:
        """Serve streamable HTTP, declared as the transport with events."""
        return self._answer(request, "stateful") if request.method == b"POST" else _status(request, 405)

    def serve_sse_not_silent(self, request: Request) -> Any:
        """Serve streamable HTTP whose GET opens a stream of other events, declared as the transport with events."""
        if request.method == b"POST":
            return self._answer(request, "stateful")
        request.setHeader(b"content-type", b"text/event-stream")
        request.write(_event({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}))
        return NOT_DONE_YET

    def serve_sse_not_mute(self, request: Request) -> Any:
        """Serve streamable HTTP whose GET is not answered, declared as the transport with events."""
        return self._answer(request, "stateful") if request.method == b"POST" else NOT_DONE_YET

    def serve_old_transport_login(self, request: Request) -> bytes:
        return _status(request, 405) if request.method == b"POST" else self.serve_login_key(request)

    def serve_sse_elsewhere(self, request: Request) -> Any:
        if request.method != b"GET":
            return _status(request, 405)
        request.setHeader(b"content-type", b"text/event-stream")
        endpoint = self.targets.get("/sse-elsewhere", "http://10.0.0.1/messages")
        request.write(b"event: endpoint\ndata: %b\n\n" % endpoint.encode())
        return NOT_DONE_YET


def _event(message: dict[str, Any]) -> bytes:
    return b"event: message\ndata: " + json.dumps(message).encode() + b"\n\n"


def _json(request: Request, value: Any) -> bytes:
    request.setHeader(b"content-type", b"application/json")
    return json.dumps(value).encode()


def _status(request: Request, code: int, body: bytes = b"") -> bytes:
    request.setResponseCode(code)
    return body


def _redirect(request: Request, target: bytes) -> bytes:
    request.setHeader(b"location", target)
    return _status(request, 307)
