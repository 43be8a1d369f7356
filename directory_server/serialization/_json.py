"""Strict JSON (RFC 8259): decode, also in parts, encode, and structure values as attrs classes with strict types."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from typing import Any, Literal, TypeVar, get_args, get_origin

import attrs
import orjson
from attrs import frozen
from cattrs import Converter, transform_error
from cattrs.errors import ClassValidationError, ForbiddenExtraKeysError

from ..domain.errors import BadInput

T = TypeVar("T")

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"

MAX_DEPTH = 64
"""Levels of nesting. Valid input needs about a dozen."""

MAX_NAMES, MAX_NAME = 5, 100
"""Unknown members that an error message lists, and characters of the name of a member in it."""


def decode(body: bytes, *, what: str = "The body") -> Any:
    """Return the value of a JSON document.

    Raises BadInput for invalid UTF-8, invalid JSON (NaN and Infinity included), lone surrogates, duplicate members, and
    nesting deeper than MAX_DEPTH (RFC 8259; I-JSON, RFC 7493, for members and surrogates). The message starts with
    `what`. A byte order mark is ignored (RFC 8259, section 8.1).
    """
    body = body.removeprefix(_BYTE_ORDER_MARK)
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise BadInput(f"{what} is not JSON: {error}.", code="parse_error") from None
    if body.count(b"{") + body.count(b"[") > MAX_DEPTH:
        _check_depth(value, what)
    # orjson silently keeps the last of duplicate members. Encoded again, such a value has fewer colons than the body,
    # unless an escape sequence (\u003a) stands for a colon. Only in these cases is the body parsed a second time.
    if body.find(b"\\u003") >= 0 or body.count(b":") != orjson.dumps(value).count(b":"):
        _check_duplicates(body, what)
    return value


def decode_stored(body: bytes) -> Any:
    """Return the value of a stored form, which this software has encoded."""
    return orjson.loads(body)


def encode(value: Any) -> bytes:
    """Return `value` as compact JSON. An attrs instance becomes an object of its fields."""
    return orjson.dumps(value, default=_encode_other)


def canonical(value: Any) -> bytes:
    """Return a value of plain JSON, compact and with sorted members. Raises TypeError for an integer of 65 bits."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def raw(body: bytes) -> orjson.Fragment:
    """Return encoded JSON as a value that `encode` inserts unchanged."""
    return orjson.Fragment(body)


def tool_result(body: bytes) -> bytes:
    """Return an encoded tool result with encoded JSON as text and as structured content (MCP 2025-11-25, Tools)."""
    # JSON escapes control characters itself, so its text has only quotes and backslashes to escape.
    text = body.replace(b"\\", b"\\\\").replace(b'"', b'\\"')
    return b'{"content":[{"type":"text","text":"%s"}],"structuredContent":%s,"isError":false}' % (text, body)


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
        raise BadInput(f"{what} is nested deeper than {MAX_DEPTH} levels.", code="parse_error")


def _check_duplicates(body: bytes, what: str) -> None:
    def check(pairs: list[tuple[str, Any]]) -> None:
        seen = set()
        for name, _ in pairs:
            if name in seen:
                raise BadInput(f"{what} has the member {name[:MAX_NAME]!r} twice in one object.", code="parse_error")
            seen.add(name)

    json.loads(body.decode(), object_pairs_hook=check)


def _encode_other(value: Any) -> Any:
    if attrs.has(type(value)):
        return {field.name: getattr(value, field.name) for field in attrs.fields(type(value))}
    raise TypeError(f"{type(value).__name__} has no JSON form")


def structure(value: Any, cls: type[T], *, what: str) -> T:
    """Return `value` as an instance of the attrs class `cls`.

    A member that is null is absent: many clients send null for what a model has left out. Raises BadInput. The message
    has the path, which starts with `what`, the error and the allowed members.
    """
    if not isinstance(value, dict):
        raise BadInput(f"{what} must be an object.")
    try:
        return _CONVERTER.structure({name: member for name, member in value.items() if member is not None}, cls)
    except ClassValidationError as error:
        allowed = ", ".join(field.name for field in attrs.fields(cls))  # type: ignore[arg-type]
        reasons = transform_error(error, path=what, format_exception=lambda e, _: _reason(e, allowed))
        # cattrs writes "reason @ path"; the path should come first.
        raise BadInput("; ".join(_path_first(reason) for reason in reasons) + ".") from None


def _path_first(reason: str) -> str:
    sentence, _, path = reason.rpartition(" @ ")
    return f"{path}: {sentence}"


def _reason(error: BaseException, allowed: str) -> str:
    match error:
        case KeyError():
            return "is required"
        case ForbiddenExtraKeysError():
            names = sorted(str(name) for name in error.extra_fields)
            unknown = ", ".join(repr(name[:MAX_NAME]) for name in names[:MAX_NAMES])
            more = f" and {len(names) - MAX_NAMES:,} more" if len(names) > MAX_NAMES else ""
            return f"unknown member {unknown}{more}; allowed: {allowed}"
        case _:
            return str(error)


def _require_string(value: Any, _: type) -> str:
    if not isinstance(value, str):
        raise ValueError("must be a string")
    return value


_WHOLE_NUMBER = re.compile(r" *(-?[0-9]{1,18})(?:\.0{1,18})? *")


def _require_integer(value: Any, _: type) -> int:
    # JSON has one kind of number and some clients write 50.0 for 50 (RFC 8259, section 6), others "50".
    if isinstance(value, str) and (match := _WHOLE_NUMBER.fullmatch(value)):
        return int(match[1])
    if isinstance(value, bool) or not isinstance(value, int | float) or not float(value).is_integer():
        raise ValueError("must be a whole number")
    return int(value)


def _require_boolean(value: Any, _: type) -> bool:
    if not isinstance(value, bool):
        raise ValueError("must be true or false")
    return value


def _is_choice(type_: Any) -> bool:
    origin: Any = get_origin(type_)
    return origin is Literal


def _require_choice(value: Any, type_: Any) -> Any:
    choices = get_args(type_)
    if value not in choices:
        raise ValueError(f"must be {' or '.join(map(str, choices))}")
    return value


_CONVERTER = Converter(forbid_extra_keys=True)
_CONVERTER.register_structure_hook(str, _require_string)
_CONVERTER.register_structure_hook(int, _require_integer)
_CONVERTER.register_structure_hook(bool, _require_boolean)
_CONVERTER.register_structure_hook_func(_is_choice, _require_choice)


_SEPARATOR = re.compile(rb'(?:[^"\[\]{},]++|"(?:[^"\\]++|\\.)*+"?+)*+([\[\]{},])', re.DOTALL)
"""Text with its strings, and the separator after it. Without backtracking, so that any text takes linear time."""

_MEMBER = re.compile(rb'("(?:[^"\\]++|\\.)*+")\s*:(.*)', re.DOTALL)


@frozen
class InvalidPart:
    """An invalid element: why, and its value as a tolerant parser reads it, None if that cannot."""

    message: str
    value: Any


def decode_apart(body: bytes, member: str) -> dict[str, Any]:
    """Return the object `body`, of which the elements of the list `member` are decoded apart.

    An invalid element is an InvalidPart. Raises BadInput if the object is invalid elsewhere.
    """
    value: dict[str, Any] = {}
    for part in _split(body.removeprefix(_BYTE_ORDER_MARK), b"{"):
        match = _MEMBER.fullmatch(part)
        name = decode(match[1]) if match else ""
        if match is None or name in value:
            raise BadInput("The body has an invalid or repeated member.")
        is_list = name == member and match[2].lstrip().startswith(b"[")
        value[name] = [_decoded(element) for element in _split(match[2], b"[")] if is_list else decode(match[2])
    return value


def _decoded(element: bytes) -> Any:
    try:
        return decode(element, what="The entry")
    except BadInput as error:
        return InvalidPart(error.message, _read_tolerantly(element))


def _read_tolerantly(element: bytes) -> Any:
    """Return the value of JSON that may have NaN, lone surrogates, or numbers beyond the range of a double."""
    try:
        return json.loads(element.decode(errors="replace"))
    except (ValueError, RecursionError):
        return None


def _split(body: bytes, bracket: bytes) -> list[bytes]:
    """Return the members of an object or the elements of a list, as they are written. Raises BadInput."""
    body, parts, depth, start = body.strip(), list[bytes](), 0, 1
    found = _SEPARATOR.match(body)
    while found is not None:
        kind = found[1]
        if kind in b"[{":
            depth += 1
        elif kind != b"," or depth == 1:
            if depth == 1:
                parts.append(body[start : found.start(1)].strip())
                start = found.end()
            depth -= kind != b","
            if depth == 0:
                break
        found = _SEPARATOR.match(body, found.end())
    if not body.startswith(bracket) or depth != 0 or start != len(body):
        raise BadInput("The body is not JSON: its brackets do not match.")
    return [] if parts == [b""] else parts
