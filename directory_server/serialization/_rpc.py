"""JSON-RPC 2.0 messages as restricted by MCP: parameters are objects, ids are strings or numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import frozen

from ..domain.errors import BadInput

Id = str | int | float

MAX_ID = 2.0**53
"""The limit of numbers that every JSON reader represents exactly (I-JSON, RFC 7493, section 2.2)."""

MAX_ID_CHARACTERS = 256
"""Responses, and each event of a subscription, repeat the id of their request."""


@frozen
class Message:
    """A request (with method and id), a notification (without id) or a response (without method)."""

    method: str | None
    id: Id | None
    params: Mapping[str, Any]

    @property
    def is_request(self) -> bool:
        """Whether the message requires a response."""
        return self.method is not None and self.id is not None


def message(value: Any) -> Message:
    """Return the message in `value`. Raises BadInput (JSON-RPC 2.0, sections 4 and 5)."""
    if not isinstance(value, dict):
        raise _invalid("must be an object")
    if value.get("jsonrpc") != "2.0":
        raise _invalid("jsonrpc: must be the string '2.0'")
    identity = message_id(value)
    method, params = value.get("method"), value.get("params")
    if identity is not None and isinstance(method, str) and isinstance(params, dict):
        return Message(method, identity, params)
    if "id" in value and identity is None and "error" not in value:
        raise _invalid(
            f"id: must be a string of at most {MAX_ID_CHARACTERS} characters, or a number that JSON readers represent "
            "exactly: below 2^53"
        )
    if "method" not in value:
        # An error response to a message with an unreadable id has the id null.
        if "error" in value or ("result" in value and identity is not None):
            return Message(None, identity, {})
        raise _invalid("method: is required in a request; result or error in a response")
    if not isinstance(method, str):
        raise _invalid("method: must be a string")
    # Some clients send null for omitted params.
    params = {} if params is None else params
    if not isinstance(params, dict):
        raise _invalid("params: must be an object")
    return Message(method, identity, params)


def message_id(value: Any) -> Id | None:
    """Return the id of a possibly invalid message; None if it has no valid id."""
    identity = value.get("id") if isinstance(value, dict) else None
    if isinstance(identity, str):
        return identity if len(identity) <= MAX_ID_CHARACTERS else None
    if isinstance(identity, int) and not isinstance(identity, bool):
        return identity
    # Integers of more than 64 bits are decoded as floats, and would be returned as another number.
    return identity if isinstance(identity, float) and abs(identity) < MAX_ID else None


def _invalid(reason: str) -> BadInput:
    return BadInput(f"Not a JSON-RPC message: {reason}.", code="invalid_request")
