"""Parts of a JSON document that is invalid somewhere, so that one bad part does not affect the others."""

from __future__ import annotations

import json
import re
from typing import Any

from attrs import frozen

from ..domain.errors import BadInput
from ._json import decode

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
    for part in _split(body, b"{"):
        match = _MEMBER.fullmatch(part)
        name = decode(match[1]) if match else ""
        if match is None or name in value:
            raise BadInput("The body has an invalid or repeated member.")
        is_list = name == member and match[2].lstrip().startswith(b"[")
        value[name] = [_decoded(each) for each in _split(match[2], b"[")] if is_list else decode(match[2])
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
