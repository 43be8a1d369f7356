"""Strict JSON in, bytes out: the only room that knows what the values look like outside."""

from ._entries import MAX_ENTRY, decode_entry, encode_entry, fingerprint, restore_entry
from ._events import change_event, change_item, event, place
from ._json import decode, encode, pretty, raw, rfc3339, text
from ._queries import (
    DEFAULT_CHANGES,
    MAX_CHANGES,
    MAX_KEYWORDS,
    MAX_LIMIT,
    MAX_SEQ,
    SEARCH_PARAMETERS,
    WATCH_PARAMETERS,
    Watch,
    detail_arguments,
    encode_cursor,
    entry_id,
    no_parameters,
    search_arguments,
    search_parameters,
    watch_parameters,
)
from ._rpc import Id, Message, message, message_id
from ._structure import structure

__all__ = [
    "DEFAULT_CHANGES",
    "MAX_CHANGES",
    "MAX_ENTRY",
    "MAX_KEYWORDS",
    "MAX_LIMIT",
    "MAX_SEQ",
    "SEARCH_PARAMETERS",
    "WATCH_PARAMETERS",
    "Id",
    "Message",
    "Watch",
    "change_event",
    "change_item",
    "decode",
    "decode_entry",
    "detail_arguments",
    "encode",
    "encode_cursor",
    "encode_entry",
    "entry_id",
    "event",
    "fingerprint",
    "message",
    "message_id",
    "no_parameters",
    "place",
    "pretty",
    "raw",
    "restore_entry",
    "rfc3339",
    "search_arguments",
    "search_parameters",
    "structure",
    "text",
    "watch_parameters",
]
