"""Strict JSON (RFC 8259)."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import attrs
import orjson

from ..domain.errors import BadInput

MAX_DEPTH = 64
"""Levels of nesting. Valid input needs about a dozen."""


def decode(body: bytes, *, what: str = "The body") -> Any:
    """Return the value of a JSON document.

    Raises BadInput for invalid UTF-8, invalid JSON (NaN and Infinity included), lone surrogates, duplicate members, and
    nesting deeper than MAX_DEPTH (RFC 8259; I-JSON, RFC 7493, for members and surrogates). The message starts with
    `what`.
    """
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise BadInput(f"{what} is not JSON: {error}.", code="parse_error") from None
    if body.count(b"{") + body.count(b"[") > MAX_DEPTH:
        _check_depth(value, what)
    # orjson silently keeps the last of duplicate members. Encoded again, such a value has fewer colons than the body,
    # unless an escape sequence stands for a colon. Only in these cases is the body parsed a second time.
    if b"\\" in body or body.count(b":") != orjson.dumps(value).count(b":"):
        _check_duplicates(body, what)
    return value


def encode(value: Any) -> bytes:
    """Return `value` as compact JSON. An attrs instance becomes an object of its fields."""
    return orjson.dumps(value, default=_encode_other)


def raw(body: bytes) -> orjson.Fragment:
    """Return encoded JSON as a value that `encode` inserts unchanged."""
    return orjson.Fragment(body)


def text(value: Any) -> str:
    """Return `value` as JSON in a string, for JSON inside JSON."""
    return encode(value).decode()


def pretty(value: Any) -> str:
    """Return `value` as JSON with an indentation of 2."""
    return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()


def rfc3339(moment: float) -> str:
    """Return `moment`, in seconds since the epoch, as an RFC 3339 date and time in UTC, without fractions."""
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _check_depth(value: Any, what: str) -> None:
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [
            child
            for parent in level
            if isinstance(parent, dict | list)
            for child in (parent.values() if isinstance(parent, dict) else parent)
        ]
        if not level:
            return
    if any(isinstance(child, dict | list) for child in level):
        raise BadInput(f"{what} nests deeper than {MAX_DEPTH} levels.", code="parse_error")


def _check_duplicates(body: bytes, what: str) -> None:
    def check(pairs: list[tuple[str, Any]]) -> None:
        seen = set()
        for name, _ in pairs:
            if name in seen:
                raise BadInput(f"{what} names the member {name!r} twice in one object.", code="parse_error")
            seen.add(name)

    json.loads(body.decode(), object_pairs_hook=check)


def _encode_other(value: Any) -> Any:
    if attrs.has(type(value)):
        return {field.name: getattr(value, field.name) for field in attrs.fields(type(value))}
    raise TypeError(f"{type(value).__name__} has no JSON form")
