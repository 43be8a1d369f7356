"""Media type and size of a picture, read from its first bytes."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ...http_client import BadResponse

MAX_SIDE = 1_024
"""Pixels of a side. A small file can hold a picture that takes gigabytes when a browser shows it."""

_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""Markers of JPEG with the size of the picture (ITU-T T.81, table B.1)."""


def media_type(body: bytes) -> str:
    """Return the media type of a PNG, GIF, WebP or JPEG. Raises BadResponse if it is none, or has a long side."""
    for name, size in _SIZES.items():
        sides = size(body)
        if sides is not None:
            if not 0 < min(sides) <= max(sides) <= MAX_SIDE:
                raise BadResponse(f"It has no side of 1 to {MAX_SIDE:,} pixels.")
            return name
    raise BadResponse("It is no PNG, GIF, WebP or JPEG.")


def _png(body: bytes) -> tuple[int, int] | None:
    """Return the sides in the first chunk (PNG, third edition, section 11.2.1)."""
    if body[:8] != b"\x89PNG\r\n\x1a\n" or body[12:16] != b"IHDR" or len(body) < 24:
        return None
    return _big(body[16:20]), _big(body[20:24])


def _gif(body: bytes) -> tuple[int, int] | None:
    """Return the sides of the screen (GIF89a, section 18)."""
    if body[:6] not in (b"GIF87a", b"GIF89a") or len(body) < 10:
        return None
    return _little(body[6:8]), _little(body[8:10])


def _webp(body: bytes) -> tuple[int, int] | None:
    """Return the sides of one of the three kinds of WebP (RFC 9649, sections 2.5 to 2.7)."""
    if body[:4] != b"RIFF" or body[8:12] != b"WEBP" or len(body) < 30:
        return None
    kind = body[12:16]
    if kind == b"VP8X":
        return _little(body[24:27]) + 1, _little(body[27:30]) + 1
    if kind == b"VP8 " and body[23:26] == b"\x9d\x01\x2a":
        return _little(body[26:28]) & 0x3FFF, _little(body[28:30]) & 0x3FFF
    if kind == b"VP8L" and body[20] == 0x2F:
        bits = _little(body[21:25])
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    return None


def _jpeg(body: bytes) -> tuple[int, int] | None:
    """Return the sides in the header of the frame (ITU-T T.81, sections B.1.1 and B.2.2)."""
    if body[:3] != b"\xff\xd8\xff":
        return None
    at = 2
    while len(body) >= at + 9 and body[at] == 0xFF:
        if body[at + 1] in _FRAMES:
            return _big(body[at + 7 : at + 9]), _big(body[at + 5 : at + 7])
        # The length of a segment has its own two bytes, so each step goes on.
        at += 2 + max(_big(body[at + 2 : at + 4]), 2)
    return None


def _big(digits: bytes) -> int:
    return int.from_bytes(digits, "big")


def _little(digits: bytes) -> int:
    return int.from_bytes(digits, "little")


_SIZES: Mapping[str, Callable[[bytes], tuple[int, int] | None]] = {
    "image/png": _png,
    "image/gif": _gif,
    "image/webp": _webp,
    "image/jpeg": _jpeg,
}
