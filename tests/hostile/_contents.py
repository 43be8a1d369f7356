"""Probes of request contents: JSON, JSON-RPC, paths, queries and media types."""

from __future__ import annotations

from collections.abc import Iterator

from ._framing import post
from ._probe import KEY, MCP, Probe

SEARCH = b"/api/open/v1/search"


def rpc(name: str, body: bytes, *statuses: int, code: str | None = None) -> Probe:
    raw = post(b"Content-Length: %d" % len(body), body=body)
    return Probe(f"JSON: {name}", raw, statuses or (400,), code, closes=False)


def broken(name: str, body: bytes) -> Probe:
    return rpc(name, body, 400, code="parse_error")


def get(name: str, target: bytes, *statuses: int, code: str | None = None) -> Probe:
    raw = b"GET %b HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %b\r\n\r\n" % (target, KEY)
    return Probe(f"GET: {name}", raw, statuses, code, closes=False)


def params(value: bytes) -> bytes:
    return b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":' + value + b"}}"


def call(arguments: bytes) -> bytes:
    inner = b'{"name":"search_mcp","arguments":' + arguments + b"}"
    return b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":' + inner + b"}"


JSON = [
    broken("a space only", b" "),
    broken("an incomplete object", b'{"jsonrpc":"2.0"'),
    broken("two objects", b"{}{}"),
    broken("a comment", params(b"1/**/")),
    broken("a trailing comma", params(b"[1,]")),
    broken("NaN", params(b"NaN")),
    broken("Infinity", params(b"-Infinity")),
    broken("hexadecimal", params(b"0x10")),
    broken("a leading zero", params(b"01")),
    broken("single quotes", params(b"'a'")),
    broken("a control character", params(b'"\n"')),
    broken("a lone surrogate", params(b'"\\ud800"')),
    broken("a lone surrogate in a name", b'{"\\udfff":1}'),
    rpc("a byte order mark", b"\xef\xbb\xbf" + params(b"1"), 200),
    broken("two byte order marks", b"\xef\xbb\xbf\xef\xbb\xbf" + params(b"1")),
    broken("UTF-16", params(b"1").decode().encode("utf-16")),
    broken("UTF-32", params(b"1").decode().encode("utf-32")),
    broken("Latin-1", params(b'"\xe9"')),
    broken("an overlong slash", params(b'"\xc0\xaf"')),
    broken("a surrogate in UTF-8", params(b'"\xed\xa0\x80"')),
    broken("a member twice", b'{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}'),
    broken("a member twice, deep inside", params(b'[{"b":{"c":1,"c":1}}]')),
    broken("a member twice, once escaped", params(b'{"b":1,"\\u0062":1}')),
    broken("65 arrays", params(b"[" * 64 + b"]" * 64)),
    broken("30,000 arrays", b"[" * 30_000 + b"]" * 30_000),
    broken("30,000 arrays, all open", b"[" * 30_000),
    broken("10,000 objects", b'{"a":' * 10_000 + b"1" + b"}" * 10_000),
    rpc("a number of 60,000 digits", params(b"1" * 60_000), 200, 400),
    rpc("a number of 1e999", params(b"1e999"), 200, 400),
    rpc("8,000 members", params(b"{" + b",".join(b'"%d":1' % n for n in range(6_000)) + b"}"), 200, 400),
    rpc("not an object", b'"ping"', code="invalid_request"),
    rpc("null", b"null", code="invalid_request"),
    rpc("another version", b'{"jsonrpc":"1.0","id":1,"method":"ping"}', code="invalid_request"),
    rpc("a method that is a number", b'{"jsonrpc":"2.0","id":1,"method":1}', code="invalid_request"),
    rpc("an id that is true", b'{"jsonrpc":"2.0","id":true,"method":"ping"}', code="invalid_request"),
    rpc("an id that is an object", b'{"jsonrpc":"2.0","id":{},"method":"ping"}', code="invalid_request"),
    rpc("parameters in a list", b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', code="invalid_request"),
    rpc("an empty batch", b"[]", code="invalid_request"),
    rpc("a batch of 51", b"[" + b",".join([b"1"] * 51) + b"]", code="invalid_request"),
    rpc("a batch in a batch", b"[[[]]]", 200),
    rpc("a method of 60,000 letters", b'{"jsonrpc":"2.0","id":1,"method":"' + b"a" * 60_000 + b'"}', 200),
    rpc("keywords of 60,000 letters", call(b'{"keywords":"' + b"a" * 60_000 + b'"}'), 200),
    rpc("keywords that are a NUL", call(b'{"keywords":"\\u0000"}'), 200),
    rpc("a limit of 1e400", call(b'{"keywords":"a","limit":1e400}'), 200, 400),
    rpc("a limit of 100 digits", call(b'{"keywords":"a","limit":' + b"9" * 100 + b"}"), 200, 400),
    rpc("unknown arguments", call(b'{"keywords":"a","__proto__":{},"constructor":1}'), 200),
]

PATHS = [
    get("a path that is not UTF-8", b"/api/open/v1/entries/%ff", 400),
    get("a path that is not UTF-8, elsewhere", b"/%ff", 400, 404),
    get("a path with a NUL", b"/api/open/v1/entries/%00", 400, 404),
    get("a path with an encoded slash", b"/api/open/v1%2fsearch", 400, 404),
    get("a path with an encoded line end", b"/api/open/v1/entries/%0d%0aX:%20y", 400, 404),
    get("half an escape", b"/api/open/v1/entries/%f", 400, 404),
    get("two slashes first", b"//healthz", 308),
    get("two slashes within", b"/api/open//v1/search?keywords=a", 308),
    get("a slash at the end", b"/healthz/", 308),
    get("another host after two slashes", b"//evil.example/healthz", 404),
    get("dots", b"/api/open/v1/../v1/search?keywords=a", 404),
    get("dots, encoded", b"/%2e%2e/%2e%2e/etc/passwd", 404),
    get("capitals", b"/HEALTHZ", 404),
    get("a semicolon", b"/healthz;x=y", 404),
    get("a key in the path", b"/" + KEY, 400, 404),
    get("a key in the id", b"/api/open/v1/entries/" + KEY, 400),
    get("a parameter for a key in percent-encoding", SEARCH + b"?keywords=a&%6Bey=x", 400, code="key_in_url"),
    get("a key in the query", SEARCH + b"?keywords=a&key=" + KEY, 400, code="key_in_url"),
]

QUERIES = [
    get("no keywords", SEARCH, 400, code="bad_request"),
    get("keywords twice", SEARCH + b"?keywords=a&keywords=b", 400, code="bad_request"),
    get("keywords that are not UTF-8", SEARCH + b"?keywords=%ff", 400, code="bad_request"),
    get("keywords in an overlong form", SEARCH + b"?keywords=%c0%80", 400, code="bad_request"),
    get("keywords of 4,097 letters", SEARCH + b"?keywords=" + b"a" * 4_097, 400, code="bad_request"),
    get("keywords that are a NUL", SEARCH + b"?keywords=%00", 200, 400),
    get("an unknown parameter", SEARCH + b"?keywords=a&x=y", 400, code="bad_request"),
    get("1,000 parameters", SEARCH + b"?" + b"a=1&" * 1_000, 400),
    get("a query of 5,000 bytes", SEARCH + b"?keywords=" + b"a" * 5_000, 400, 414),
    get("a limit of 4,000 digits", SEARCH + b"?keywords=a&limit=" + b"9" * 4_000, 400, code="bad_request"),
    get("a limit in full-width digits", SEARCH + b"?keywords=a&limit=%EF%BC%95", 400, code="bad_request"),
    get("a limit of -1", SEARCH + b"?keywords=a&limit=-1", 400, code="bad_request"),
    get("an invalid cursor", SEARCH + b"?keywords=a&cursor=%00", 400, code="bad_request"),
    get("a cursor of 4,000 bytes", SEARCH + b"?keywords=a&cursor=" + b"W" * 4_000, 400, code="bad_request"),
    get("a cursor with a NaN", SEARCH + b"?keywords=a&cursor=WyJhIixOYU4sImIiXQ", 400, code="bad_request"),
]


def _typed(kind: bytes) -> Iterator[bytes]:
    yield b"Content-Type: " + kind
    yield b"Content-Length: 2"


TYPES = [
    Probe(
        f"a body of type {kind.decode('latin-1')!r}",
        b"\r\n".join(
            [
                b"POST " + MCP + b" HTTP/1.1",
                b"Host: localhost",
                b"Authorization: Bearer " + KEY,
                *_typed(kind),
                b"",
                b"{}",
            ]
        ),
        (415,),
        closes=False,
    )
    for kind in (
        b"text/plain",
        b"application/x-www-form-urlencoded",
        b"multipart/form-data; boundary=a",
        b"\xff/\xfe",
        b"",
    )
]

CONTENTS = JSON + PATHS + QUERIES + TYPES
