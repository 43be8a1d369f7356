"""Probes of message framing: request line, headers and body length (RFC 9112)."""

from __future__ import annotations

from ._probe import KEY, MCP, Probe

BAD = (400,)


def head(*fields: bytes, line: bytes = b"GET /healthz HTTP/1.1", host: bytes = b"Host: localhost") -> bytes:
    return b"\r\n".join([line, *filter(None, [host]), *fields, b"", b""])


def post(*fields: bytes, body: bytes = b"", line: bytes = b"POST " + MCP + b" HTTP/1.1") -> bytes:
    return head(b"Authorization: Bearer " + KEY, b"Content-Type: application/json", *fields, line=line) + body


def chunked(body: bytes) -> bytes:
    return post(b"Transfer-Encoding: chunked", body=body)


SEARCH = b"GET /api/open/v1/search HTTP/1.1"
PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
SIZED = b"Content-Length: %d" % len(PING)

LINES = [
    Probe("a plain request", head(), (200,), closes=False),
    Probe("an empty line before it", b"\r\n" + head(), (200,), closes=False),
    Probe("no target", head(line=b"GET HTTP/1.1"), BAD),
    Probe("a target without a slash", head(line=b"GET healthz HTTP/1.1"), BAD),
    Probe("a target that is an authority", head(line=b"GET localhost:80 HTTP/1.1"), BAD),
    Probe("a target that is an asterisk", head(line=b"GET * HTTP/1.1"), BAD),
    Probe("a fragment in the target", head(line=b"GET /healthz#x HTTP/1.1"), BAD),
    Probe("a space in the target", head(line=b"GET /health z HTTP/1.1"), BAD),
    Probe("a NUL in the target", head(line=b"GET /health\0z HTTP/1.1"), BAD),
    Probe("a tab in the target", head(line=b"GET /health\tz HTTP/1.1"), BAD),
    Probe("bytes beyond ASCII in the target", head(line=b"GET /\xff\xfe HTTP/1.1"), BAD),
    Probe("UTF-8 in the target", head(line="GET /é HTTP/1.1".encode()), (400, 404)),
    Probe("the absolute form", head(line=b"GET http://localhost/healthz HTTP/1.1"), (200,), closes=False),
    Probe("the absolute form, another scheme", head(line=b"GET ftp://localhost/healthz HTTP/1.1"), BAD),
    Probe("the absolute form, credentials", head(line=b"GET http://a:b@localhost/healthz HTTP/1.1"), BAD),
    Probe(
        "the absolute form, another host",
        head(line=b"GET http://evil.example/api/open/v1/search HTTP/1.1"),
        (403,),
        closes=False,
    ),
    Probe(
        "the absolute form overrides Host",
        head(line=b"GET http://localhost/api/open/openapi.json HTTP/1.1", host=b"Host: evil.example"),
        (200,),
        closes=False,
    ),
    Probe("CONNECT", head(line=b"CONNECT evil.example:443 HTTP/1.1"), (400, 405, 501)),
    Probe("TRACE", head(line=b"TRACE /healthz HTTP/1.1"), (405, 501), closes=False),
    Probe("a method of WebDAV", head(line=b"PROPFIND /healthz HTTP/1.1"), (405, 501)),
    Probe("an unknown method", head(line=b"BREW /healthz HTTP/1.1"), (501,)),
    Probe("a method in small letters", head(line=b"get /healthz HTTP/1.1"), (400, 501)),
    Probe("a method with a NUL", head(line=b"G\0T /healthz HTTP/1.1"), BAD),
    Probe("a method of 20,000 letters", b"A" * 20_000, (400, 414, 431, 501)),
    Probe("no version", b"GET /healthz\r\n\r\n", (400, 505)),
    Probe("an invalid version", head(line=b"GET /healthz HTTP/1.1.1"), (400, 505)),
    Probe("a version in small letters", head(line=b"GET /healthz http/1.1"), (400, 505)),
    Probe("another protocol", head(line=b"GET /healthz RTSP/1.0"), BAD),
    Probe("version 9.9", head(line=b"GET /healthz HTTP/9.9"), (400, 505)),
    Probe("version 2 without its preface", head(line=b"GET /healthz HTTP/2.0"), (400, 505)),
    Probe("the preface of HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0" * 9, (400, 501, 505)),
    Probe("the beginning of TLS", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(256), BAD),
    Probe("the beginning of SSH", b"SSH-2.0-OpenSSH_9.2p1\r\n", (400, 501)),
    Probe("lines that end in LF alone", b"GET /healthz HTTP/1.1\nHost: localhost\n\n", BAD),
    Probe("lines that end in CR alone", b"GET /healthz HTTP/1.1\rHost: localhost\r\r", BAD),
    Probe("an offer of HTTP/2", head(b"Connection: Upgrade", b"Upgrade: h2c"), (200,), closes=False),
    Probe("an offer of WebSocket", head(b"Connection: Upgrade", b"Upgrade: websocket"), (200,), closes=False),
]

HEADERS = [
    Probe("no Host", head(host=b""), BAD),
    Probe("two Hosts", head(b"Host: localhost"), BAD),
    Probe("two Hosts that differ", head(b"Host: evil.example"), BAD),
    Probe("Host is empty", head(line=SEARCH, host=b"Host:"), (400,), "bad_request", closes=False),
    Probe("Host is empty, health", head(host=b"Host:"), (200,), closes=False),
    Probe("Host with a space", head(host=b"Host: localhost evil"), BAD),
    Probe("Host with a path", head(host=b"Host: localhost/evil"), BAD),
    Probe("Host with credentials", head(host=b"Host: evil@localhost"), BAD),
    Probe("Host is a list", head(host=b"Host: localhost, evil"), BAD),
    Probe(
        "Host of another server", head(line=SEARCH, host=b"Host: evil.example"), (403,), "forbidden_host", closes=False
    ),
    Probe("Host of another server, health", head(host=b"Host: evil.example"), (200,), closes=False),
    Probe("Host with an invalid port", head(host=b"Host: localhost:x"), BAD),
    Probe("HTTP/1.0 without Host", head(line=b"GET / HTTP/1.0", host=b""), (400,), "bad_request"),
    Probe("HTTP/1.0 without Host, health", head(line=b"GET /healthz HTTP/1.0", host=b""), (200,)),
    Probe("a line that is folded", head(b"X: a\r\n b"), BAD),
    Probe("a line that is folded first", b"GET /healthz HTTP/1.1\r\n Host: localhost\r\n\r\n", BAD),
    Probe("a space before the colon", head(b"X : a"), BAD),
    Probe("no colon", head(b"X"), BAD),
    Probe("no name", head(b": a"), BAD),
    Probe("a name with a NUL", head(b"X\0Y: a"), BAD),
    Probe("a name beyond ASCII", head(b"X\xff: a"), BAD),
    Probe("a name with brackets", head(b"X(Y): a"), BAD),
    Probe("a value with a NUL", head(b"X: a\0b"), BAD),
    Probe("a value with a CR", head(b"X: a\rb"), BAD),
    Probe("a value with an LF", head(b"X: a\nY: b"), BAD),
    Probe("a value beyond ASCII", head(b"X: \xff\xfe"), (200,), closes=False),
    Probe(
        "Authorization beyond ASCII",
        head(b"Authorization: \xff", line=b"GET " + MCP + b" HTTP/1.1"),
        (401,),
        closes=False,
    ),
    Probe("600 headers", head(*[b"X: a"] * 600), (431,)),
    Probe("headers of 20,000 bytes", head(*[b"X: " + b"a" * 1_997] * 10), (431,)),
    Probe("a header of 70,000 bytes", head(b"X: " + b"a" * 70_000), (431,)),
    Probe("a header that never ends", head()[:-2] + b"X: " + b"a" * 70_000, (431,)),
    Probe("a header name that never ends", head()[:-2] + b"a" * 70_000, (400, 431)),
    Probe("a target of 20,000 bytes", head(line=b"GET /" + b"a" * 20_000 + b" HTTP/1.1"), (414,)),
    Probe("a target that never ends", b"GET /" + b"a" * 20_000, (414,)),
    Probe("a query of 17,000 bytes", head(line=b"GET /healthz?" + b"a=1&" * 4_250 + b" HTTP/1.1"), (414,)),
]

BODIES = [
    Probe("a length", post(SIZED, body=PING), (200,), closes=False),
    Probe("a length and chunks", post(SIZED, b"Transfer-Encoding: chunked", body=b"0\r\n\r\n"), BAD),
    Probe("chunks and a length", post(b"Transfer-Encoding: chunked", SIZED, body=b"0\r\n\r\n"), BAD),
    Probe("two lengths", post(SIZED, SIZED, body=PING), BAD),
    Probe("two lengths that differ", post(SIZED, b"Content-Length: 1", body=PING), BAD),
    Probe("a list of lengths", post(b"Content-Length: 40, 40", body=PING), BAD),
    Probe("an empty length", post(b"Content-Length:", body=PING), BAD),
    Probe("a length with a sign", post(b"Content-Length: +40", body=PING), BAD),
    Probe("a negative length", post(b"Content-Length: -1", body=PING), BAD),
    Probe("a length in base 16", post(b"Content-Length: 0x28", body=PING), BAD),
    Probe("a length with an underscore", post(b"Content-Length: 4_0", body=PING), BAD),
    Probe("a length with a fraction", post(b"Content-Length: 40.0", body=PING), BAD),
    Probe("a length with a space within", post(b"Content-Length: 4 0", body=PING), BAD),
    Probe("a length in full-width digits", post("Content-Length: ４０".encode(), body=PING), BAD),
    Probe("a length of 4,301 digits", post(b"Content-Length: " + b"9" * 4_301), (400, 413)),
    Probe("a length of 2 to the 64th", post(b"Content-Length: 18446744073709551616"), (400, 413)),
    Probe("a length of 2 to the 64th and 40", post(b"Content-Length: 18446744073709551656", body=PING), (400, 413)),
    Probe("a length one too many", post(b"Content-Length: 65537"), (413,), "too_large"),
    Probe("200 MB announced", post(b"Content-Length: 200000000"), (413,), "too_large"),
    Probe(
        "Expect: 100-continue with a long body",
        post(b"Content-Length: 65537", b"Expect: 100-continue"),
        (413,),
        "too_large",
    ),
    Probe("300,000 bytes of a form", post(b"Content-Length: 300000", body=b"a=1&" * 75_000), (413,), "too_large"),
    Probe(
        "chunks with HTTP/1.0",
        post(b"Transfer-Encoding: chunked", body=b"0\r\n\r\n", line=b"POST /api/open/mcp HTTP/1.0"),
        BAD,
    ),
    Probe("coding identity", post(b"Transfer-Encoding: identity", body=PING), (400, 501)),
    Probe("coding gzip", post(b"Transfer-Encoding: gzip", body=PING), (400, 501)),
    Probe("coding gzip, chunked", post(b"Transfer-Encoding: gzip, chunked", body=b"0\r\n\r\n"), (400, 501)),
    Probe("coding chunked, gzip", post(b"Transfer-Encoding: chunked, gzip", body=b"0\r\n\r\n"), (400, 501)),
    Probe("coding chunked twice", post(b"Transfer-Encoding: chunked, chunked", body=b"0\r\n\r\n"), (400, 501)),
    Probe(
        "coding in two headers",
        post(b"Transfer-Encoding: chunked", b"Transfer-Encoding: x", body=b"0\r\n\r\n"),
        (400, 501),
    ),
    Probe("a coding that is nearly chunked", post(b"Transfer-Encoding: xchunked", body=b"0\r\n\r\n"), (400, 501)),
    Probe("chunked behind a control character", post(b"Transfer-Encoding: \x0bchunked", body=b"0\r\n\r\n"), (400, 501)),
    Probe("an empty coding", post(b"Transfer-Encoding:", SIZED, body=PING), (400, 501)),
]

CHUNKS = [
    Probe(
        "chunks",
        chunked(b"14\r\n" + PING[:20] + b"\r\n%x\r\n" % (len(PING) - 20) + PING[20:] + b"\r\n0\r\n\r\n"),
        (200,),
        closes=False,
    ),
    Probe("an invalid chunk size", chunked(b"z\r\n"), BAD),
    Probe("a chunk's size with a sign", chunked(b"+1\r\na\r\n0\r\n\r\n"), BAD),
    Probe("a chunk of negative size", chunked(b"-1\r\na\r\n0\r\n\r\n"), BAD),
    Probe("a chunk's size with 0x", chunked(b"0x1\r\na\r\n0\r\n\r\n"), BAD),
    Probe("a chunk's size with a space first", chunked(b" 1\r\na\r\n0\r\n\r\n"), BAD),
    Probe("a chunk without a size", chunked(b"\r\na\r\n0\r\n\r\n"), BAD),
    Probe("a chunk's size that overflows", chunked(b"10000000000000001\r\na\r\n0\r\n\r\n"), (400, 413)),
    Probe("a chunk's size of 600,000 digits", chunked(b"0" * 600_000), (400, 413, 431)),
    Probe("a chunk's line that ends in LF alone", chunked(b"1\na\r\n0\r\n\r\n"), BAD),
    Probe("a chunk's line that ends in CR alone", chunked(b"1\ra\r\n0\r\n\r\n"), BAD),
    Probe("a chunk longer than its size", chunked(b"1\r\nab\r\n0\r\n\r\n"), BAD),
    Probe("an LF within a chunk's extension", chunked(b"1;a\nb\r\na\r\n0\r\n\r\n"), BAD),
    Probe("a chunk's extension of 600,000 bytes", chunked(b"1;" + b"a" * 600_000), (400, 413, 431)),
    Probe("a trailer without a colon", chunked(b"0\r\nX\r\n\r\n"), BAD),
    Probe("a trailer of 600,000 bytes", chunked(b"0\r\nX: " + b"a" * 600_000), (400, 413, 431)),
    Probe("600 trailers", chunked(b"0\r\n" + b"X: a\r\n" * 600), (400, 413, 431)),
    Probe("one chunk too large", chunked(b"10001\r\n" + b"a" * 0x10001), (413,), "too_large"),
    Probe("chunks too large together", chunked(b"400\r\n%b\r\n" % (b"a" * 0x400) * 65), (413,), "too_large"),
    Probe("300,000 bytes of small chunks", chunked(b"1\r\na\r\n" * 300_000), (413,), "too_large"),
]

FRAMING = LINES + HEADERS + BODIES + CHUNKS
