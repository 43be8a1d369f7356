"""A page of a registry, read as what a stranger sent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attrs import frozen

from ..domain.entries import Entry
from ..domain.errors import BadInput
from ..serialization import decode, decode_entry
from ._errors import UpstreamFailed

MAX_CURSOR = 4_096
"""Characters of a cursor."""

MAX_SERVERS = 1_000
"""Entries of a page, ten times as many as the official API gives."""

MAX_ELEMENTS = 250_000
"""Commas and opening brackets of a page, an upper bound of its JSON values. A page of 100 real entries has 5,000."""


@frozen
class RejectedServer:
    """Why an entry was not taken, and its name, empty where not even that can be read."""

    name: str
    reason: str


@frozen
class ServerPage:
    """The entries of a page, those that were `refused`, and the cursor of the next page, empty behind the last."""

    entries: Sequence[Entry]
    refused: Sequence[RejectedServer]
    next: str


def read(body: bytes) -> ServerPage:
    """Return the page that `body` holds (official registry API, GET /v0.1/servers).

    An entry that cannot be read is refused and the others are taken; raises UpstreamFailed where it is no page, or a
    larger one than is read.
    """
    # Before decoding: a value takes two bytes of JSON, and sixty of memory.
    if sum(map(body.count, (b",", b"[", b"{"))) > MAX_ELEMENTS:
        raise UpstreamFailed(f"It sent a page of more than {MAX_ELEMENTS:,} JSON values.")
    try:
        value = decode(body)
    except BadInput as error:
        raise UpstreamFailed(f"It sent what is no JSON: {error.message}") from None
    if not isinstance(value, dict) or not isinstance(value.get("servers"), list):
        raise UpstreamFailed("It sent no page of a registry: an object with a list of entries under 'servers'.")
    if len(value["servers"]) > MAX_SERVERS:
        raise UpstreamFailed(f"It sent a page of {len(value['servers']):,} entries; at most {MAX_SERVERS:,} are taken.")
    entries, refused = [], []
    for number, each in enumerate(value["servers"], 1):
        try:
            entries.append(decode_entry(each))
        except BadInput as error:
            name = _name(each)
            refused.append(RejectedServer(name, f"{name or f'entry {number} of a page'}: {error.message}"))
    return ServerPage(entries, refused, _next(value.get("metadata")))


def _next(metadata: Any) -> str:
    if metadata is None:
        return ""
    if not isinstance(metadata, dict):
        raise UpstreamFailed("It sent a page whose 'metadata' is no object.")
    # The first registries wrote it with an underscore.
    cursor = metadata.get("nextCursor", metadata.get("next_cursor")) or ""
    if not isinstance(cursor, str) or len(cursor) > MAX_CURSOR:
        raise UpstreamFailed(f"It sent a page whose 'nextCursor' is no text of at most {MAX_CURSOR:,} characters.")
    return cursor


def _name(value: Any) -> str:
    server = value.get("server", value) if isinstance(value, dict) else None
    name = server.get("name") if isinstance(server, dict) else None
    return name[:200] if isinstance(name, str) and name.isprintable() else ""
