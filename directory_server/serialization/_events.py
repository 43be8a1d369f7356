"""Server-sent events (WHATWG HTML, section 9.2)."""

from __future__ import annotations

from typing import Any

from ..domain.changes import Change
from ._json import encode
from ._responses import change_fields

_LINE_ENDS = {end.encode(): b"\\u%04x" % ord(end) for end in "\x85\u2028\u2029"}
"""Characters that JSON does not escape and some clients treat as line ends (Unicode, section 5.8); their escapes."""


def event(value: Any, *, name: str = "", identity: str | None = None) -> bytes:
    """Return an encoded event with `value` as JSON on one line.

    `name` and `identity` become its `event` and `id`, which are omitted if empty and None.
    """
    data = encode(value)
    if not data.isascii():
        for end, escape in _LINE_ENDS.items():
            data = data.replace(end, escape)
    number = b"" if identity is None else b"id: %s\n" % identity.encode()
    kind = b"event: %s\n" % name.encode() if name else b""
    return b"%s%sdata: %s\n\n" % (number, kind, data)


def event_id(seq: int, log: str) -> str:
    """Return the id of an event, from which a client resumes: the `seq` of a change, and the id of its log."""
    return f"{seq}-{log}"


def id_field(seq: int, log: str) -> bytes:
    """Return an encoded `id` field without data. A client resumes from it, and dispatches no event."""
    return b"id: %s\n\n" % event_id(seq, log).encode()


def change_event(change: Change, log: str) -> bytes:
    """Return the encoded event of a change in the log with the id `log`."""
    return event(change_fields(change), name=f"entry.{change.kind}", identity=event_id(change.seq, log))
