"""Server-sent events: the frames that streams carry (WHATWG HTML, section 9.2)."""

from __future__ import annotations

from typing import Any

from ..model import Change
from ._entries import restore_entry
from ._json import encode

_LINE_ENDS = {end.encode(): b"\\u%04x" % ord(end) for end in "\x85\u2028\u2029"}
"""What JSON leaves as it is and some readers take for the end of a line (Unicode, section 5.8), and its escapes."""


def event(value: Any, *, name: str = "", seq: int | None = None) -> bytes:
    """Return the frame of an event that carries `value` as JSON, which no text in it can break or end.

    `name` and `seq` become its `event` and its `id`; without them it has none.
    """
    data = encode(value)
    if not data.isascii():
        for end, escape in _LINE_ENDS.items():
            data = data.replace(end, escape)
    number = b"" if seq is None else b"id: %d\n" % seq
    kind = b"event: %s\n" % name.encode() if name else b""
    return b"%s%sdata: %s\n\n" % (number, kind, data)


def place(seq: int) -> bytes:
    """Return the frame that only says how far its reader has got: it sets the id to come back with, and is no event."""
    return b"id: %d\n\n" % seq


def change_event(change: Change) -> bytes:
    """Return the frame that tells of a change."""
    return event(_fields(change), name=f"entry.{change.kind}", seq=change.seq)


def change_item(change: Change) -> dict[str, Any]:
    """Return what a list of changes shows of one."""
    return {"seq": change.seq, "event": f"entry.{change.kind}", **_fields(change)}


def _fields(change: Change) -> dict[str, str]:
    if change.body is None:
        return {"mcp_id": change.mcp_id}
    hit = restore_entry(change.body).hit()
    return {"mcp_id": hit.mcp_id, "name": hit.name, "brief": hit.brief, "website_url": hit.website_url}
