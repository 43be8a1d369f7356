"""JSON as RFC 8259 has it and no wider."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import attrs
import orjson

from ..domain.errors import BadInput

MAX_DEPTH = 64
"""Levels of nesting that are read; nothing that the directory is sent needs more than a dozen."""


def decode(body: bytes) -> Any:
    """Return the value of a JSON document.

    Raises BadInput for what is not UTF-8, not JSON (NaN and Infinity are not), has lone surrogates, names a member
    twice or nests deeper than MAX_DEPTH (RFC 8259; I-JSON, RFC 7493, for the members and surrogates).
    """
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise BadInput(f"The body is not JSON: {error}.", code="parse_error") from None
    if body.count(b"{") + body.count(b"[") > MAX_DEPTH:
        _refuse_depth(value)
    # orjson keeps the last of two members with one name and has no way to say so. Written out again, a value that lost
    # one has fewer colons, unless an escape stood for another; only then is the body read a second time.
    if b"\\" in body or body.count(b":") != orjson.dumps(value).count(b":"):
        _WITHOUT_DUPLICATES.decode(body.decode())
    return value


def encode(value: Any) -> bytes:
    """Return `value` as compact JSON; attrs instances become objects of their fields."""
    return orjson.dumps(value, default=_encode_other)


def raw(body: bytes) -> orjson.Fragment:
    """Return JSON that is already encoded as a value that `encode` puts in as it is."""
    return orjson.Fragment(body)


def text(value: Any) -> str:
    """Return `value` as JSON in a string, for places that hold JSON inside JSON."""
    return encode(value).decode()


def pretty(value: Any) -> str:
    """Return `value` as JSON that people read, indented by two."""
    return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()


def rfc3339(moment: float) -> str:
    """Return `moment`, in seconds since the epoch, as a date and time (RFC 3339) in UTC, to the second."""
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _refuse_depth(value: Any) -> None:
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
        raise BadInput(f"The body nests deeper than {MAX_DEPTH} levels.", code="parse_error")


def _refuse_duplicates(pairs: list[tuple[str, Any]]) -> None:
    seen = set()
    for name, _ in pairs:
        if name in seen:
            raise BadInput(f"The body names the member {name!r} twice in one object.", code="parse_error")
        seen.add(name)


_WITHOUT_DUPLICATES = json.JSONDecoder(object_pairs_hook=_refuse_duplicates)


def _encode_other(value: Any) -> Any:
    if attrs.has(type(value)):
        return {field.name: getattr(value, field.name) for field in attrs.fields(type(value))}
    raise TypeError(f"{type(value).__name__} has no JSON form")
