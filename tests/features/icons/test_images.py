"""Media type and size of pictures, and what hostile bytes cause."""

from __future__ import annotations

import struct
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from directory_server.features.icons.web import media_type
from directory_server.http_client import BadResponse


def png(width: int, height: int) -> bytes:
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", width, height)


def gif(width: int, height: int) -> bytes:
    return b"GIF89a" + struct.pack("<HH", width, height)


def webp(kind: bytes, rest: bytes) -> bytes:
    return (b"RIFF\0\0\0\0WEBP" + kind + b"\0\0\0\0" + rest).ljust(40, b"\0")


def extended(width: int, height: int) -> bytes:
    return webp(b"VP8X", b"\0\0\0\0" + (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little"))


def lossy(width: int, height: int) -> bytes:
    return webp(b"VP8 ", b"\0\0\0\x9d\x01\x2a" + struct.pack("<HH", width, height))


def lossless(width: int, height: int) -> bytes:
    return webp(b"VP8L", b"\x2f" + ((width - 1) | (height - 1) << 14).to_bytes(4, "little"))


def jpeg(width: int, height: int) -> bytes:
    segment = b"\xff\xe0" + struct.pack(">H", 16) + bytes(14)
    return b"\xff\xd8" + segment + b"\xff\xc2" + struct.pack(">HBHH", 17, 8, height, width)


KINDS = [
    (png, "image/png"),
    (gif, "image/gif"),
    (extended, "image/webp"),
    (lossy, "image/webp"),
    (lossless, "image/webp"),
    (jpeg, "image/jpeg"),
]


@pytest.mark.parametrize(("make", "name"), KINDS)
def test_the_media_type_is_that_of_the_bytes(make, name: str) -> None:  # type: ignore[no-untyped-def]
    assert media_type(make(64, 1_024)) == name
    for sides in ((1_025, 64), (64, 1_025)):
        with pytest.raises(BadResponse, match="no side of 1 to 1,024 pixels"):
            media_type(make(*sides))


@pytest.mark.parametrize("make", [png, gif, lossy, jpeg])
def test_a_picture_without_pixels_is_refused(make) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(BadResponse, match="no side"):
        media_type(make(0, 64))


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>",
        b"<!doctype html><p>not found",
        b"\0\0\1\0\1\0\x10\x10",
        png(64, 64)[:20],
        b"\xff\xd8\xff" + b"\xff\xe0\0\0" * 10,
        b"\xff\xd8\xff\xe0\xff\xff",
    ],
)
def test_other_bytes_are_refused(body: bytes) -> None:
    with pytest.raises(BadResponse, match="no PNG, GIF, WebP or JPEG"):
        media_type(body)


@given(
    st.sampled_from([b"", b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"GIF89a", b"RIFF\0\0\0\0WEBPVP8L"]),
    st.binary(max_size=200),
)
def test_any_bytes_have_a_type_or_a_reason(begin: bytes, rest: bytes) -> None:
    with suppress(BadResponse):
        assert media_type(begin + rest).startswith("image/")
