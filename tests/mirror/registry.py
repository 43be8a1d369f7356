"""An upstream registry for tests, with one route per fault."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from attrs import define, field
from twisted.internet.defer import Deferred
from twisted.web.resource import Resource
from twisted.web.server import NOT_DONE_YET, Request

from directory_server.domain.entries import OFFICIAL

HTTP_DATE = b"Fri, 15 Jan 2027 08:00:00 GMT"
"""The Date header of every response, equal to `NOW`."""

NOW = 1_800_000_000.0


def registry_entry(
    name: str, version: str = "1.0.0", description: str = "It rains.", **official: Any
) -> dict[str, Any]:
    """Return an entry in the format of the official registry API."""
    meta = {"status": "active", "isLatest": True, "updatedAt": "2026-01-01T00:00:00Z", **official}
    return {"server": {"name": name, "version": version, "description": description}, "_meta": {OFFICIAL: meta}}


def numbered_entries(number: int) -> list[dict[str, Any]]:
    """Return the entries x/00000, x/00001 …"""
    return [registry_entry(f"x/{each:05}") for each in range(number)]


ABC = [registry_entry(f"x/{letter}") for letter in "abc"]


@define(eq=False, slots=False)
class Registry(Resource):
    """A registry that serves `entries` in pages, and `changed` to requests with `updated_since`.

    The first part of the path selects a fault. `requests` and `headers` record the parameters and the header fields of
    each request. The first `busy` requests, and every second request after them, get status 429.
    """

    isLeaf = True

    entries: list[dict[str, Any]] = field(factory=list)
    changed: list[dict[str, Any]] = field(factory=list)
    page_size: int = 2
    requests: list[Mapping[str, str]] = field(factory=list)
    headers: list[Mapping[str, str]] = field(factory=list)
    stalled: Deferred[None] = field(factory=Deferred)
    fail_after: int = 1_000_000
    expired: bool = False
    busy: int = 0
    etags: bool = False
    body: bytes = b""

    def __attrs_post_init__(self) -> None:
        Resource.__init__(self)

    def render_GET(self, request: Request) -> Any:
        request.setHeader(b"date", HTTP_DATE)
        parameters = {name.decode(): values[0].decode() for name, values in request.args.items()}
        self.requests.append(parameters)
        self.headers.append({k.decode().lower(): v[0].decode() for k, v in request.requestHeaders.getAllRawHeaders()})
        route = request.path.decode().split("/")[1].replace("-", "_")
        if len(self.requests) <= self.busy or (self.busy and len(self.requests) % 2):
            request.setResponseCode(429)
            request.setHeader(b"retry-after", b"2")
            return b""
        if self.expired and "cursor" in parameters:
            request.setResponseCode(400)
            return b""
        fault: Callable[[Request], Any] | None = getattr(self, f"fault_{route}", None)
        if len(self.requests) > self.fail_after:
            request.setResponseCode(500)
            return b""
        return fault(request) if fault else self._page(request, parameters)

    def _page(self, request: Request, parameters: Mapping[str, str]) -> bytes:
        entries = self.changed if "updated_since" in parameters else self.entries
        start = int(parameters.get("cursor") or 0)
        page = entries[start : start + self.page_size]
        more = start + self.page_size < len(entries)
        body = encode_page(page, str(start + self.page_size) if more else None)
        if self.etags:
            request.setETag(b'"%d"' % hash(body))
            if request.code == 304:
                return b""
        return body

    # Faults, by the first part of the path.

    def fault_html(self, request: Request) -> bytes:
        return b"<html>Welcome to nginx!</html>"

    def fault_truncated_json(self, request: Request) -> bytes:
        return encode_page([registry_entry("x/truncated")], None)[:-20]

    def fault_truncated_body(self, request: Request) -> Any:
        request.setHeader(b"content-length", b"1000")
        request.write(b'{"servers": [')
        assert request.transport is not None
        request.transport.loseConnection()
        return NOT_DONE_YET

    def fault_wrong_types(self, request: Request) -> bytes:
        return b'{"servers": {"x/a": {}}, "metadata": {}}'

    def fault_wrong_metadata(self, request: Request) -> bytes:
        return b'{"servers": [], "metadata": []}'

    def fault_wrong_cursor(self, request: Request) -> bytes:
        return b'{"servers": [], "metadata": {"nextCursor": {"a": 1}}}'

    def fault_invalid_entries(self, request: Request) -> bytes:
        return encode_page([registry_entry("x/good"), {"server": {"name": "x/bad"}}, 7], None)  # type: ignore[list-item]

    def fault_cursor_loop(self, request: Request) -> bytes:
        number = len(self.requests)
        return encode_page([registry_entry(f"x/{number}")], "ab"[number % 2])

    def fault_repeated_page(self, request: Request) -> bytes:
        return encode_page([registry_entry("x/same")], "again")

    def fault_endless_cursors(self, request: Request) -> bytes:
        """Return the same entries with a new cursor each time."""
        return encode_page([registry_entry("x/same")], str(len(self.requests)))

    def fault_endless_names(self, request: Request) -> bytes:
        """Return a page of new names each time."""
        number = len(self.requests)
        return encode_page([registry_entry(f"x/{number}-{each}") for each in range(100)], str(number))

    def fault_large_body(self, request: Request) -> bytes:
        return b" " * 20_000_000 + b"{}"

    def fault_many_values(self, request: Request) -> bytes:
        return b'{"servers": [' + b"[]," * 1_300_000 + b"[]]}"

    def fault_many_entries(self, request: Request) -> bytes:
        return b'{"servers": [' + b"7," * 1_000 + b"7]}"

    def fault_headers(self, request: Request) -> bytes:
        for number in range(5_000):
            request.responseHeaders.addRawHeader(b"x-%d" % number, b"a" * 1_000)
        return encode_page([], None)

    def fault_cookies(self, request: Request) -> bytes:
        request.responseHeaders.addRawHeader(b"set-cookie", b"page%d=x" % len(self.requests))
        return self._page(request, {name.decode(): values[0].decode() for name, values in request.args.items()})

    def fault_early_hints(self, request: Request) -> Any:
        channel: Any = request.channel
        channel.transport.write(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" * 10_000)
        return encode_page([], None)

    def fault_trailers(self, request: Request) -> Any:
        channel: Any = request.channel
        channel.transport.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n")
        channel.transport.write(b"x-trailer: aaaaaaaa\r\n" * 10_000 + b"\r\n")
        return NOT_DONE_YET

    def fault_small_chunks(self, request: Request) -> Any:
        channel: Any = request.channel
        channel.transport.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1\r\n \r\n" * 20_000)
        return NOT_DONE_YET

    def fault_gzip_bomb(self, request: Request) -> bytes:
        request.setHeader(b"content-encoding", b"gzip")
        return gzip.compress(b" " * 20_000_000, 1)

    def fault_gzip(self, request: Request) -> bytes:
        request.setHeader(b"content-encoding", b"gzip")
        return gzip.compress(encode_page([registry_entry("x/gzip")], None))

    def fault_gzip_truncated(self, request: Request) -> bytes:
        return self.fault_gzip(request)[:-12]

    def fault_gzip_invalid(self, request: Request) -> bytes:
        request.setHeader(b"content-encoding", b"gzip")
        return b"not gzip"

    def fault_brotli(self, request: Request) -> bytes:
        request.setHeader(b"content-encoding", b"br")
        return b"\x8b\x03\x80abc\x03"

    def fault_redirect_to_other_host(self, request: Request) -> bytes:
        return _redirect(request, b"http://169.254.169.254/latest/meta-data/")

    def fault_redirect_to_other_port(self, request: Request) -> bytes:
        return _redirect(request, b"http://127.0.0.1:1/v0.1/servers")

    def fault_redirect_to_file(self, request: Request) -> bytes:
        return _redirect(request, b"file:///etc/passwd")

    def fault_redirect_to_invalid_url(self, request: Request) -> bytes:
        return _redirect(request, b"/\xff%zz[ \\x")

    def fault_redirect_loop(self, request: Request) -> bytes:
        return _redirect(request, request.uri)

    def fault_redirect(self, request: Request) -> bytes:
        return _redirect(request, b"/v0.1/servers?" + request.uri.partition(b"?")[2])

    def fault_unavailable(self, request: Request) -> bytes:
        request.setResponseCode(503)
        request.setHeader(b"retry-after", b"7200")
        return b"later"

    def fault_too_many_requests(self, request: Request) -> bytes:
        request.setResponseCode(429)
        request.setHeader(b"retry-after", b"Fri, 15 Jan 2027 11:00:00 GMT")
        return b"later"

    def fault_not_found(self, request: Request) -> bytes:
        request.setResponseCode(404)
        return b"no"

    def fault_unrequested_304(self, request: Request) -> bytes:
        request.setResponseCode(304)
        return b""

    def fault_no_response(self, request: Request) -> Any:
        self.stalled.callback(None)
        return NOT_DONE_YET

    def fault_stalled_body(self, request: Request) -> Any:
        request.write(b'{"servers": [')
        self.stalled.callback(None)
        return NOT_DONE_YET

    def fault_file(self, request: Request) -> bytes:
        """Return a static file of entries."""
        request.setETag(b'"%d"' % hash(self.body))
        return b"" if request.code == 304 else self.body


def encode_page(entries: list[dict[str, Any]], cursor: str | None) -> bytes:
    """Return the JSON of a page of the official registry API."""
    metadata = {"count": len(entries)} | ({"nextCursor": cursor} if cursor else {})
    return json.dumps({"servers": entries, "metadata": metadata}).encode()


def encode_lines(entries: list[dict[str, Any]]) -> bytes:
    """Return a JSON Lines file."""
    return b"".join(json.dumps(each).encode() + b"\n" for each in entries)


def _redirect(request: Request, location: bytes) -> bytes:
    request.setResponseCode(302)
    request.setHeader(b"location", location)
    return b"moved"


def faults() -> Iterator[str]:
    """Yield the routes of all faults."""
    return (name.removeprefix("fault_").replace("_", "-") for name in dir(Registry) if name.startswith("fault_"))
