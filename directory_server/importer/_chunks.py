"""Read files in chunks of text, inflated if compressed with gzip."""

from __future__ import annotations

import os
import stat
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import BinaryIO

from ..runtime.files import open_file

CHUNK = 1 << 16
"""Bytes that are read, or inflated, in one step."""

STDIN = "-"
"""The file name of the standard input."""

Read = Callable[[int, int | None], None]
"""Receives the bytes read of a file so far, before inflation, and its size; None for a pipe."""

_GZIP = b"\x1f\x8b"


class Unreadable(Exception):
    """The content of a file is not text, is damaged or too large. The message follows "The file"."""


def chunks(file: str, read: Read, most: int | None = None) -> Iterator[bytes]:
    """Yield the text of `file`, "-" for the standard input, at most `most` bytes. Raises OSError and Unreadable."""
    return bounded(_text(file, read), most)


def bounded(chunks: Iterable[bytes], most: int | None) -> Iterator[bytes]:
    """Yield `chunks`. Raises Unreadable if they have more than `most` bytes in total."""
    total = 0
    for chunk in chunks:
        total += len(chunk)
        if most is not None and total > most:
            raise Unreadable(f"holds more than {most:,} bytes")
        yield chunk


def _text(file: str, read: Read) -> Iterator[bytes]:
    if file == STDIN:
        if sys.stdin is None:  # It was closed before the process started.
            raise OSError("the standard input is closed")
        return text(_raw(sys.stdin.buffer, read))
    return text(_opened(file, read))


def text(raw: Iterable[bytes]) -> Iterator[bytes]:
    """Yield `raw`, inflated if it begins with the magic number of gzip (RFC 1952, section 2.3.1). Raises Unreadable."""
    raw = iter(raw)
    head = b""
    while len(head) < len(_GZIP) and (chunk := next(raw, b"")):
        head += chunk
    whole = chain([head], raw)
    plain = _inflated(whole) if head.startswith(_GZIP) else whole
    first = next(plain, b"")
    # JSON in UTF-8 never has this byte. UTF-16 and nearly every binary format have it early.
    if b"\0" in first:
        raise Unreadable("is not JSON: it must be text in UTF-8, plain or compressed with gzip")
    yield first
    yield from plain


def _opened(file: str, read: Read) -> Iterator[bytes]:
    with open_file(file) as stream:
        yield from _raw(stream, read)


def _raw(stream: BinaryIO, read: Read) -> Iterator[bytes]:
    size, done = _size(stream), 0
    while chunk := stream.read(CHUNK):
        done += len(chunk)
        read(done, size)
        yield chunk


def _size(stream: BinaryIO) -> int | None:
    try:
        status = os.fstat(stream.fileno())
    except OSError:  # The stream has no file descriptor.
        return None
    return status.st_size if stat.S_ISREG(status.st_mode) else None


def _inflated(raw: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the inflated members of a gzip file, at most CHUNK bytes at a time."""
    member = None
    for chunk in raw:
        rest = chunk
        while rest:
            if member is None:
                # Members may be padded with zeros (tapes and block devices).
                rest = rest.lstrip(b"\0")
                member = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS) if rest else None
                continue
            try:
                yield member.decompress(rest, CHUNK)
            except zlib.error as error:
                raise Unreadable(f"is damaged: its gzip data does not inflate ({error})") from None
            rest, member = (member.unused_data, None) if member.eof else (member.unconsumed_tail, member)
    if member is not None:
        raise Unreadable("is cut short: its gzip data ends too early")
