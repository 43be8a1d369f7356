"""A registry on a loopback port, with a route for each thing that an upstream can do wrong."""

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
"""What the registry says the time is: `NOW`."""

NOW = 1_800_000_000.0


def served(name: str, version: str = "1.0.0", description: str = "It rains.", **official: Any) -> dict[str, Any]:
    """Return an entry as a registry serves it."""
    meta = {"status": "active", "isLatest": True, "updatedAt": "2026-01-01T00:00:00Z", **official}
    return {"server": {"name": name, "version": version, "description": description}, "_meta": {OFFICIAL: meta}}


@define(eq=False, slots=False)
class Registry(Resource):
    """Serves `entries` in pages, `changed` to those who name a moment; a fault by the first part of the path."""

    isLeaf = True

    entries: list[dict[str, Any]] = field(factory=list)
    changed: list[dict[str, Any]] = field(factory=list)
    size: int = 2
    asked: list[Mapping[str, str]] = field(factory=list)
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
        asked = {name.decode(): values[0].decode() for name, values in request.args.items()}
        self.asked.append(asked)
        self.headers.append({k.decode().lower(): v[0].decode() for k, v in request.requestHeaders.getAllRawHeaders()})
        route = request.path.decode().split("/")[1].replace("-", "_")
        if len(self.asked) <= self.busy or (self.busy and len(self.asked) % 2):
            request.setResponseCode(429)
            request.setHeader(b"retry-after", b"2")
            return b""
        if self.expired and "cursor" in asked:
            request.setResponseCode(400)
            return b""
        fault: Callable[[Request], Any] | None = getattr(self, f"fault_{route}", None)
        if len(self.asked) > self.fail_after:
            request.setResponseCode(500)
            return b""
        return fault(request) if fault else self._page(request, asked)

    def _page(self, request: Request, asked: Mapping[str, str]) -> bytes:
        among = self.changed if "updated_since" in asked else self.entries
        start = int(asked.get("cursor") or 0)
        page = among[start : start + self.size]
        more = start + self.size < len(among)
        body = listed(page, str(start + self.size) if more else None)
        if self.etags:
            request.setETag(b'"%d"' % hash(body))
            if request.code == 304:
                return b""
        return body

    # What an upstream may do wrong, by the first part of its address.

    def fault_garbage(self, request: Request) -> bytes:
        return b"<html>Welcome to nginx!</html>"

    def fault_half(self, request: Request) -> bytes:
        return listed([served("x/half")], None)[:-20]

    def fault_broken_off(self, request: Request) -> Any:
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

    def fault_bad_entry(self, request: Request) -> bytes:
        return listed([served("x/good"), {"server": {"name": "x/bad"}}, 7], None)  # type: ignore[list-item]

    def fault_cursor_loop(self, request: Request) -> bytes:
        number = len(self.asked)
        return listed([served(f"x/{number}")], "ab"[number % 2])

    def fault_repeated_page(self, request: Request) -> bytes:
        return listed([served("x/same")], "again")

    def fault_endless(self, request: Request) -> bytes:
        """The same page under new cursors, so that only its entries are the same."""
        return listed([served("x/same")], str(len(self.asked)))

    def fault_unique(self, request: Request) -> bytes:
        """A page of other names each time."""
        number = len(self.asked)
        return listed([served(f"x/{number}-{each}") for each in range(100)], str(number))

    def fault_large(self, request: Request) -> bytes:
        return b" " * 20_000_000 + b"{}"

    def fault_many_values(self, request: Request) -> bytes:
        return b'{"servers": [' + b"[]," * 1_300_000 + b"[]]}"

    def fault_many_entries(self, request: Request) -> bytes:
        return b'{"servers": [' + b"7," * 1_000 + b"7]}"

    def fault_headers(self, request: Request) -> bytes:
        for number in range(5_000):
            request.responseHeaders.addRawHeader(b"x-%d" % number, b"a" * 1_000)
        return listed([], None)

    def fault_early_hints(self, request: Request) -> Any:
        channel: Any = request.channel
        channel.transport.write(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" * 10_000)
        return listed([], None)

    def fault_trailers(self, request: Request) -> Any:
        channel: Any = request.channel
        channel.transport.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n")
        channel.transport.write(b"x-trailer: aaaaaaaa\r\n" * 10_000 + b"\r\n")
        return NOT_DONE_YET

    def fault_bomb(self, request: Request) -> bytes:
        request.setHeader(b"content-encoding", b"gzip")
        return gzip.compress(b" " * 20_000_000, 1)

    def fault_gzip(self, request: Request) -> bytes:
        request.setHeader(b"content-encoding", b"gzip")
        return gzip.compress(listed([served("x/gzip")], None))

    def fault_gzip_half(self, request: Request) -> bytes:
        return self.fault_gzip(request)[:-12]

    def fault_gzip_garbage(self, request: Request) -> bytes:
        request.setHeader(b"content-encoding", b"gzip")
        return b"not at all"

    def fault_brotli(self, request: Request) -> bytes:
        request.setHeader(b"content-encoding", b"br")
        return b"\x8b\x03\x80abc\x03"

    def fault_elsewhere(self, request: Request) -> bytes:
        return _redirect(request, b"http://169.254.169.254/latest/meta-data/")

    def fault_other_port(self, request: Request) -> bytes:
        return _redirect(request, b"http://127.0.0.1:1/v0.1/servers")

    def fault_scheme(self, request: Request) -> bytes:
        return _redirect(request, b"file:///etc/passwd")

    def fault_odd_address(self, request: Request) -> bytes:
        return _redirect(request, b"/\xff%zz[ \\x")

    def fault_circle(self, request: Request) -> bytes:
        return _redirect(request, request.uri)

    def fault_moved(self, request: Request) -> bytes:
        return _redirect(request, b"/v0.1/servers?" + request.uri.partition(b"?")[2])

    def fault_down(self, request: Request) -> bytes:
        request.setResponseCode(503)
        request.setHeader(b"retry-after", b"7200")
        return b"later"

    def fault_down_until(self, request: Request) -> bytes:
        request.setResponseCode(429)
        request.setHeader(b"retry-after", b"Fri, 15 Jan 2027 11:00:00 GMT")
        return b"later"

    def fault_missing(self, request: Request) -> bytes:
        request.setResponseCode(404)
        return b"no"

    def fault_unasked(self, request: Request) -> bytes:
        request.setResponseCode(304)
        return b""

    def fault_silent(self, request: Request) -> Any:
        self.stalled.callback(None)
        return NOT_DONE_YET

    def fault_drip(self, request: Request) -> Any:
        request.write(b'{"servers": [')
        self.stalled.callback(None)
        return NOT_DONE_YET

    def fault_file(self, request: Request) -> bytes:
        """A list without an API."""
        request.setETag(b'"%d"' % hash(self.body))
        return b"" if request.code == 304 else self.body


def listed(entries: list[dict[str, Any]], cursor: str | None) -> bytes:
    """Return a page of the official API."""
    metadata = {"count": len(entries)} | ({"nextCursor": cursor} if cursor else {})
    return json.dumps({"servers": entries, "metadata": metadata}).encode()


def lines(entries: list[dict[str, Any]]) -> bytes:
    """Return a file of JSON lines."""
    return b"".join(json.dumps(each).encode() + b"\n" for each in entries)


def _redirect(request: Request, location: bytes) -> bytes:
    request.setResponseCode(302)
    request.setHeader(b"location", location)
    return b"moved"


def faults() -> Iterator[str]:
    """Yield the names of the routes."""
    return (name.removeprefix("fault_").replace("_", "-") for name in dir(Registry) if name.startswith("fault_"))
