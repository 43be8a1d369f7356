"""Pagination cursors: JSON arrays in base64url (RFC 4648, section 5)."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from hashlib import blake2b
from math import isfinite
from typing import Any

from ..domain.errors import BadInput
from ..domain.search import DEFAULT_ORDER, Order, Position, Query
from ._json import decode, encode

MAX_CURSOR = 6_000
"""Characters of a cursor. URLs have at most 8 KiB."""

MAX_SEARCHED = 256
"""Characters of keywords in a cursor. A digest stands for longer ones."""

MAX_NUMBER = 2.0**53
"""The largest number in a cursor. JSON readers, floating point and SQLite represent it exactly (RFC 7493, 2.2)."""

MAX_TEXT = 2_000
"""Characters of a string in a cursor. Keywords, names and versions are shorter."""


def encode_array(values: Sequence[Any]) -> str:
    return urlsafe_b64encode(encode(values)).rstrip(b"=").decode()


def decode_array(cursor: str) -> list[Any]:
    """Return the values of `cursor`: bounded strings and numbers, booleans and null. Raises ValueError."""
    if len(cursor) > MAX_CURSOR:
        raise ValueError
    try:
        values = decode(urlsafe_b64decode(cursor.encode() + b"=" * (-len(cursor) % 4)))
    except BadInput:
        raise ValueError from None
    if not isinstance(values, list) or not all(map(_is_valid, values)):
        raise ValueError
    return values


def encode_cursor(query: Query, position: Position) -> str:
    """Return the cursor of the page of `query` after `position`."""
    sort = [] if query.sort == DEFAULT_ORDER else [query.sort]
    return encode_array([_searched(query.keywords), position.score, position.name, *sort])


def decode_cursor(cursor: str, keywords: str, sort: Order = DEFAULT_ORDER) -> Position:
    """Return the position in the hits for `keywords`, in the order `sort`, at which `cursor` continues.

    Raises BadInput.
    """
    try:
        match decode_array(cursor):
            case [str(searched), float() | int() as score, str(name)]:
                order: object = DEFAULT_ORDER
            case [str(searched), float() | int() as score, str(name), str(order)]:
                pass
            case _:
                raise ValueError
    except ValueError:
        raise BadInput("cursor: is invalid; use the cursor in the Link header of a page.") from None
    if searched != _searched(keywords):
        raise BadInput(f"cursor: belongs to a search for {searched!r}, which needs the same keywords.")
    if sort != order:
        raise BadInput("cursor: belongs to a search in another order; sort must be the same.")
    return Position(float(score), name)


def _searched(keywords: str) -> str:
    """Return what stands for `keywords` in a cursor: a digest of long ones, which would not fit in a URL twice."""
    return (
        keywords
        if len(keywords) <= MAX_SEARCHED
        else blake2b(keywords.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    )


def _is_valid(value: Any) -> bool:
    if isinstance(value, str):
        return len(value) <= MAX_TEXT
    if isinstance(value, int | float):
        return isfinite(value) and abs(value) <= MAX_NUMBER
    return value is None
