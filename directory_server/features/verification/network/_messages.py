"""JSON-RPC messages and tools of untrusted MCP servers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import frozen

from ....domain.errors import BadInput
from ....domain.marks import MAX_MARKS, bounded_marks, marks_of, tool_texts
from ....domain.tools import MAX_NAME, hints_of, takes_of, title_of
from ....http_client import BadResponse
from ....serialization import canonical, decode, encode
from ....texts.sanitize import Cleaner, clean_line, clean_text
from ..results import MAX_SCHEMA, FoundTool, digest_of

MAX_ELEMENTS = 100_000
"""Commas and opening brackets of a message, a bound of its JSON values."""

MAX_DESCRIPTION = 2_000
"""Characters of the description of a tool."""

MAX_CURSOR = 4_096
"""Characters of a cursor."""

MAX_TEXT = 200
"""Characters of other texts of a server."""


@frozen
class RpcError(Exception):
    """A JSON-RPC error: code, cleaned message, and data."""

    code: int
    message: str
    data: Any = None


@frozen
class ToolsPage:
    """A page of tools. `next` is the cursor of the next page, "" on the last.

    `documents` are the tools as the remote sent them, in canonical JSON, after their names.
    """

    tools: tuple[FoundTool, ...]
    next: str
    documents: tuple[tuple[str, bytes], ...] = ()


def request(number: int, method: str, params: Mapping[str, Any]) -> bytes:
    """Return a JSON-RPC request."""
    return encode({"jsonrpc": "2.0", "id": number, "method": method, "params": params})


def notification(method: str) -> bytes:
    """Return a JSON-RPC notification."""
    return encode({"jsonrpc": "2.0", "method": method})


def response_to(number: int, body: bytes) -> dict[str, Any] | None:
    """Return the JSON-RPC response to request `number` in `body`, or None if `body` has none.

    An error response without the id of a request counts too. Raises BadResponse if `body` is no JSON or exceeds a
    bound.
    """
    if sum(map(body.count, (b",", b"[", b"{"))) > MAX_ELEMENTS:
        raise BadResponse(f"It sent a message of more than {MAX_ELEMENTS:,} JSON values.")
    try:
        value = decode(body)
    except BadInput:
        raise BadResponse("It sent invalid JSON.") from None
    # Version 2025-03-26 allows batches.
    for each in value if isinstance(value, list) else [value]:
        if not isinstance(each, dict) or each.get("jsonrpc") != "2.0" or "method" in each:
            continue
        if (each.get("id") == number and "result" in each) or (
            each.get("id") in (number, None) and isinstance(each.get("error"), dict)
        ):
            return each
    return None


def result_of(response: Mapping[str, Any]) -> dict[str, Any]:
    """Return the result of a response. Raises RpcError for an error, BadResponse if the result is no object."""
    error = response.get("error")
    if isinstance(error, dict):
        code, message = error.get("code"), error.get("message")
        raise RpcError(
            code if isinstance(code, int) else 0,
            clean_line(message, MAX_TEXT) if isinstance(message, str) else "",
            error.get("data"),
        )
    result = response.get("result")
    if not isinstance(result, dict):
        raise BadResponse("It sent a result that is not an object.")
    return result


def line(value: Any, limit: int = MAX_TEXT) -> str:
    """Return a text of a server cleaned on one line, "" if it is no text."""
    return clean_line(value, limit) if isinstance(value, str) else ""


def tools_page(result: Mapping[str, Any], described: int) -> ToolsPage:
    """Return the tools of a result of `tools/list`, the first `described` of them with their texts.

    All of them have a digest, their hints and their marks.

    Raises BadResponse if it has no list.
    """
    found, cursor = result.get("tools"), result.get("nextCursor")
    if not isinstance(found, list):
        raise BadResponse("It sent a list of tools without tools.")
    tools: list[FoundTool] = []
    listed = [each for each in found if isinstance(each, dict) and isinstance(each.get("name"), str)]
    names, marked = frozenset(each["name"] for each in listed), 0
    for each in listed:
        name = line(each["name"], MAX_NAME)
        # One mark withholds all texts of a tool.
        marks = tuple(bounded_marks(marks_of(tool_texts(each), names), MAX_MARKS - marked, lambda _: ""))
        marked += len(marks)
        if name and len(tools) >= described:
            tools.append(FoundTool(name, hints=hints_of(each), digest=digest_of(each), marks=marks))
        elif name:
            description = each.get("description")
            text = clean_text(description, MAX_DESCRIPTION) if isinstance(description, str) else ""
            schema = each.get("inputSchema")
            takes = takes_of(schema) if isinstance(schema, dict) else ""
            texts = name, text, _schema(schema), title_of(each), hints_of(each), takes
            tools.append(FoundTool(*texts, digest=digest_of(each), marks=marks))
    following = cursor if isinstance(cursor, str) and len(cursor) <= MAX_CURSOR else ""
    return ToolsPage(tuple(tools), following, tuple((each["name"], _document(each)) for each in listed))


def _document(tool: Mapping[str, Any]) -> bytes:
    try:
        return canonical(tool)
    except TypeError:
        # A number of more than 64 bits.
        return b""


def _schema(schema: Any) -> str:
    if not isinstance(schema, dict):
        return ""
    try:
        encoded = encode(Cleaner(MAX_SCHEMA * 2).copy(schema))
    except OverflowError:
        return ""
    return encoded.decode() if len(encoded) <= MAX_SCHEMA else ""
