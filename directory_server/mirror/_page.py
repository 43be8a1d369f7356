"""Decoding of a registry page from an untrusted upstream."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from attrs import frozen

from ..domain.entries import Entry
from ..domain.errors import BadInput
from ..serialization import InvalidPart, decode, decode_apart, decode_entry
from ._upstream import UpstreamFailed

MAX_CURSOR = 4_096
"""Maximum characters of a cursor."""

MAX_SERVERS = 1_000
"""Maximum entries of a page, ten times the official API's limit."""

MAX_ELEMENTS = 250_000
"""Maximum commas and opening brackets of a page, a bound of its JSON values. 100 real entries have 5,000."""


@frozen
class RejectedServer:
    """An invalid entry: the reason, and its name, empty if that is invalid too."""

    name: str
    reason: str


@frozen
class ServerPage:
    """The valid and the rejected entries of a page, and the cursor of the next page, empty on the last."""

    entries: Sequence[Entry]
    rejected: Sequence[RejectedServer]
    next: str


def read(body: bytes) -> ServerPage:
    """Return the page that `body` holds (official registry API, GET /v0.1/servers).

    Invalid entries are rejected, the others are returned. Raises UpstreamFailed if it is not a page or exceeds a limit.
    """
    # Checked before decoding: a value has two bytes of JSON and takes sixty of memory.
    if sum(map(body.count, (b",", b"[", b"{"))) > MAX_ELEMENTS:
        raise UpstreamFailed(f"It sent a page of more than {MAX_ELEMENTS:,} JSON values.")
    value = _decode(body)
    if not isinstance(value, dict) or not isinstance(value.get("servers"), list):
        raise UpstreamFailed("It did not send a registry page: an object with a list of entries in 'servers'.")
    if len(value["servers"]) > MAX_SERVERS:
        raise UpstreamFailed(
            f"It sent a page of {len(value['servers']):,} entries; at most {MAX_SERVERS:,} are allowed."
        )
    entries, rejected = [], []
    for number, server in enumerate(value["servers"], 1):
        try:
            if isinstance(server, InvalidPart):
                raise BadInput(server.message)
            entries.append(decode_entry(server))
        except BadInput as error:
            name = _name(server.value if isinstance(server, InvalidPart) else server)
            rejected.append(RejectedServer(name, f"{name or f'entry {number} of a page'}: {error.message}"))
    return ServerPage(entries, rejected, _next(value.get("metadata")))


def _decode(body: bytes) -> Any:
    """Return the value of a page. Only if that is invalid, its entries are decoded apart, which takes longer."""
    try:
        return decode(body)
    except BadInput as error:
        with suppress(BadInput):
            return decode_apart(body, "servers")
        raise UpstreamFailed(f"It sent invalid JSON: {error.message}") from None


def _next(metadata: Any) -> str:
    if metadata is None:
        return ""
    if not isinstance(metadata, dict):
        raise UpstreamFailed("It sent a page whose 'metadata' is not an object.")
    # Early registries used an underscore.
    cursor = metadata.get("nextCursor", metadata.get("next_cursor")) or ""
    if not isinstance(cursor, str) or len(cursor) > MAX_CURSOR:
        raise UpstreamFailed(f"It sent a page whose 'nextCursor' is not a string of at most {MAX_CURSOR:,} characters.")
    if "\0" in cursor:
        raise UpstreamFailed("It sent a page whose 'nextCursor' contains NUL.")
    return cursor


def _name(value: Any) -> str:
    server = value.get("server", value) if isinstance(value, dict) else None
    name = server.get("name") if isinstance(server, dict) else None
    return name[:200] if isinstance(name, str) and name.isprintable() else ""
