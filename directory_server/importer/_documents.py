"""Read the entries of a file: JSON Lines, or one JSON document (an entry, an array, a registry page or a catalog)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from attrs import frozen

from ..domain.errors import BadInput
from ..serialization import MAX_ENTRY, decode, encode
from ._chunks import Read, Unreadable, chunks

MAX_DOCUMENT = 64_000_000
"""Bytes of the largest JSON document, which is held in memory. JSON Lines may be of any size."""

# Concatenated files may have byte order marks inside.
_BLANK = b" \t\r\n\xef\xbb\xbf"
_PAGES = b'"servers"', b'"entries"'
"""The members with a list of entries, of pages of a registry and of catalogs of ARD."""

_OBJECT_LINE = re.compile(rb"^\{.*", re.MULTILINE)
_NOT_BLANK = re.compile(rb"[^ \t\r\n\xef\xbb\xbf]")


@frozen
class Document:
    """One entry of a file, not yet decoded, or an error: either `body` or `error` is set.

    `line` is where its line or its document begins, from 1; None for an error of the whole file. `json_path` is its
    position in an array or page, such as `servers[3]`. `final` is true for an error after which the file is not read
    further.
    """

    file: str
    line: int | None
    body: bytes = b""
    error: str = ""
    final: bool = False
    json_path: str = ""


def documents(file: str, read: Read = lambda done, size: None, *, most: int | None = None) -> Iterator[Document]:
    """Yield the entries of `file`, "-" for the standard input, in their order.

    The file holds JSON Lines or one JSON document, plain or compressed with gzip, whatever its name. At most `most`
    inflated bytes are read. Errors are yielded, not raised. `read` is called for each chunk.
    """
    try:
        yield from parse(file, chunks(file, read, most))
    except OSError as error:
        yield _file_error(file, f"The file cannot be read: {error.strerror or error}.")
    except Unreadable as error:
        yield _file_error(file, f"The file {error}.")


def parse(
    file: str, chunks: Iterable[bytes], *, max_entry: int = MAX_ENTRY, max_document: int = MAX_DOCUMENT
) -> Iterator[Document]:
    """Yield the entries of a text in chunks.

    If the first line is a JSON value, or is not the start of an object or array, the text is JSON Lines: each line is
    an entry, an array or a page, and a broken line does not affect the others. Else the text is one document, and one
    error makes all of it invalid. The exception is JSON Lines whose first line is broken: a later line is an object.
    """
    rest = iter(chunks)
    head, start, end = _read_first_line(rest, max_document)
    if start == len(head):
        yield _file_error(file, "The file is empty.")
        return
    if head[start] in b"{[" and not _is_json(bytes(head[start:end])):
        for chunk in rest:
            head += chunk
            if len(head) > max_document:
                break
        if len(head) <= max_document:
            try:
                # The text before `start` is kept, so that the error has the right line.
                value = decode(bytes(head).lstrip(b"\xef\xbb\xbf"), what="The file")
            except BadInput as error:
                reason = f"{error.message} A file holds one JSON document, or JSON Lines with one entry per line."
            else:
                number, text = head.count(b"\n", 0, start) + 1, bytes(head[start:]).rstrip(_BLANK)
                yield from _entries(file, number, text, value, max_entry)
                return
        else:
            reason = f"The JSON document is larger than {max_document:,} bytes. Use JSON Lines: one entry per line."
        first = head[start:end]
        is_array_or_page = first.startswith(b"[") or _is_page(first)
        if is_array_or_page or not any(map(_is_json, _OBJECT_LINE.findall(bytes(head[end:])))):
            yield _file_error(file, reason)
            return
    for number, line in _lines(chain([bytes(head)], rest), max_document, max_entry):
        yield from _line(file, number, line, max_entry)


def _read_first_line(chunks: Iterator[bytes], most: int) -> tuple[bytearray, int, int]:
    """Return the text up to the first line that is not blank, and where that line starts and ends.

    The text may go on after the line. It ends early after `most` bytes.
    """
    head, start = bytearray(), 0
    for chunk in chunks:
        searched = len(head)
        head += chunk
        match = _NOT_BLANK.search(head, start)
        start = match.start() if match else len(head)
        end = head.find(b"\n", max(start, searched))
        if end >= 0 or len(head) > most:
            return head, start, end if end >= 0 else len(head)
    return head, start, len(head)


def _lines(chunks: Iterable[bytes], max_first: int, max_line: int) -> Iterator[tuple[int, bytes]]:
    """Yield the number and text of each line that is not blank; a longer line is cut one byte above the limit."""
    number, line, most = 1, bytearray(), max_first
    for chunk in chunks:
        first, *others = chunk.split(b"\n")
        _extend(line, first, most)
        for other in others:
            if line:
                yield number, bytes(line)
                most = max_line
            number += 1
            line.clear()
            _extend(line, other, most)
    if line:
        yield number, bytes(line)


def _extend(line: bytearray, text: bytes, most: int) -> None:
    line += (text if line else text.lstrip(_BLANK))[: most + 1 - len(line)]


def _line(file: str, number: int, line: bytes, max_entry: int) -> Iterator[Document]:
    text = line.rstrip(_BLANK)
    if text.startswith(b"[") or (text.startswith(b"{") and _is_page(text)):
        try:
            value = decode(text)
        except BadInput:
            value = None  # The caller decodes the text again and reports the error.
        yield from _entries(file, number, text, value, max_entry)
    else:
        yield from _entries(file, number, text, None, max_entry)


def _entries(file: str, line: int, text: bytes, value: Any, max_entry: int) -> Iterator[Document]:
    """Yield the entries of `value`, an array or a page, or else `text` as one entry."""
    name, items = "", value
    if isinstance(value, dict):
        name = "servers" if "servers" in value else "entries"
        items = value.get(name)
    if isinstance(items, list):
        for index, item in enumerate(items):
            yield _entry(file, line, encode(item), max_entry, f"{name}[{index}]")
    else:
        yield _entry(file, line, text, max_entry)


def _is_page(text: bytes | bytearray) -> bool:
    return any(member in text for member in _PAGES)


def _entry(file: str, line: int, body: bytes, max_entry: int, json_path: str = "") -> Document:
    if len(body) > max_entry:
        return Document(file, line, error=f"The entry is larger than {max_entry:,} bytes.", json_path=json_path)
    return Document(file, line, body, json_path=json_path)


def _file_error(file: str, error: str) -> Document:
    return Document(file, None, error=error, final=True)


def _is_json(text: bytes) -> bool:
    try:
        decode(text)
    except BadInput:
        return False
    return True
