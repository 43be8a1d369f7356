"""What a probe is: bytes, and what they may be answered with."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from attrs import frozen

KEY = b"{KEY}"
"""Stands for a valid key in the bytes of a probe."""

MCP = b"/api/open/mcp"


@frozen
class Probe:
    """Bytes sent on a new connection, and the statuses of which the one answer to them must have one.

    `code` is the word that the answer's body must give as its reason, if the table says. A probe that `closes` leaves
    it open where its request ends, or is broken enough that nobody should read on: the server closes.
    """

    name: str
    raw: bytes
    statuses: tuple[int, ...]
    code: str | None = None
    closes: bool = True

    def bytes(self, key: str) -> bytes:
        """Return what is sent by one who has `key`."""
        return self.raw.replace(KEY, key.encode())


@frozen
class Answer:
    """One response, read from bytes."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def code(self) -> str:
        """The machine's word for a refusal, in the form of either door (docs/protocol.md, Errors)."""
        error = self.json["error"]
        return str(error if isinstance(error, str) else error.get("data", {}).get("error"))


def answers(raw: bytes) -> list[Answer]:
    """Return the responses that `raw` holds, which must be whole ones and nothing else (RFC 9112)."""
    return list(_answers(raw))


def whole(raw: bytes) -> bool:
    """Tell whether `raw` is one or more whole responses."""
    try:
        return bool(answers(raw))
    except Incomplete:
        return False


class Incomplete(Exception):
    """Say that a response is not there to its end."""


def _answers(raw: bytes) -> Iterator[Answer]:
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
        # Nothing here is sent in chunks but streams, which no probe opens.
        length = 0 if int(status) == 204 else int(headers["content-length"])
        if len(raw) < length:
            raise Incomplete(head)
        yield Answer(int(status), headers, raw[:length])
        raw = raw[length:]


def check(answer: Answer, probe: Probe) -> None:
    """Hold an answer to what the table says."""
    assert answer.status in probe.statuses, answer
    if answer.status >= 400:
        assert answer.headers["content-type"] == "application/json"
        error = answer.json["error"]
        assert isinstance(answer.json.get("message") if isinstance(error, str) else error["message"], str)
    if probe.code is not None:
        assert answer.code == probe.code
