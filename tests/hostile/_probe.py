"""Probes: bytes to send, and the allowed responses."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from attrs import frozen

KEY = b"{KEY}"
"""Placeholder of a valid key in the bytes of a probe."""

MCP = b"/api/open/mcp"


@frozen
class Probe:
    """Bytes sent on a new connection, and the allowed statuses of the only response.

    `code` is the required error code, if any. `closes` tells that the server must close the connection, because the
    end of the request is unclear.
    """

    name: str
    raw: bytes
    statuses: tuple[int, ...]
    code: str | None = None
    closes: bool = True

    def bytes(self, key: str) -> bytes:
        """Return the bytes with `key` inserted."""
        return self.raw.replace(KEY, key.encode())


@frozen
class Response:
    """One parsed response."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def code(self) -> str:
        """Return the error code of a REST or JSON-RPC body (docs/protocol.md, Errors)."""
        error = self.json["error"]
        return str(error if isinstance(error, str) else error.get("data", {}).get("error"))


def parse_responses(raw: bytes) -> list[Response]:
    """Return the responses in `raw`. Raises Incomplete for a partial one."""
    return list(_parse_responses(raw))


def is_complete(raw: bytes) -> bool:
    """Return whether `raw` is one or more complete responses."""
    try:
        return bool(parse_responses(raw))
    except Incomplete:
        return False


class Incomplete(Exception):
    """A response is incomplete."""


def _parse_responses(raw: bytes) -> Iterator[Response]:
    while raw:
        head, blank, raw = raw.partition(b"\r\n\r\n")
        if not blank:
            raise Incomplete(head)
        line, *fields = head.split(b"\r\n")
        version, status, reason = line.split(b" ", 2)
        assert version == b"HTTP/1.1", line
        assert reason.decode().isprintable(), line
        headers: dict[str, str] = {}
        for field in fields:
            name, colon, value = field.decode("latin-1").partition(":")
            assert colon, field
            assert name.lower() not in headers, f"{name} is there twice"
            headers[name.lower()] = value.strip()
        if int(status) // 100 == 1:
            continue
        # Only streams are chunked, and no probe opens a stream.
        length = 0 if int(status) == 204 else int(headers["content-length"])
        if len(raw) < length:
            raise Incomplete(head)
        yield Response(int(status), headers, raw[:length])
        raw = raw[length:]


def check_response(response: Response, probe: Probe) -> None:
    """Assert that a response is allowed by its probe."""
    assert response.status in probe.statuses, response
    if response.status >= 400:
        assert response.headers["content-type"] == "application/json"
        error = response.json["error"]
        assert isinstance(response.json.get("message") if isinstance(error, str) else error["message"], str)
    if probe.code is not None:
        assert response.code == probe.code
