"""Where each entry of a JSON text begins and ends, found without reading what is in it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from attrs import frozen

NESTING = 64
"""Levels in which each bracket is held against its partner; deeper ones, which no entry has, are only counted."""

REREAD = 16
"""Lines that are read again behind a break. A JSON line that is cut short shows it in the next or the one behind."""

# Text without brackets, strings passed over whole, then a bracket, or a string that does not end here, or the end.
# Possessive quantifiers never go back, so the time is linear in the text.
_STRING_REST = r'[^"\\\n]*+(?:\\.[^"\\\n]*+)*+'
_TOKEN = r'[^"{0}]*+(?:"' + _STRING_REST + r'"[^"{0}]*+)*+(?:([{0}])|(")|\Z)'
_BRACKET = re.compile(_TOKEN.format(r"\[\]{}").encode())
_BRACKET_OR_COMMA = re.compile(_TOKEN.format(r"\[\]{},").encode())
_IN_STRING = re.compile(_STRING_REST.encode())

_BLANK = re.compile(rb"[\s\xef\xbb\xbf]*+")  # A byte order mark is blank too: concatenated files have some inside.
_SPACE = re.compile(rb"[ \t\r\xef\xbb\xbf]*+")
_SERVERS = re.compile(rb'[{,]\s*"servers"\s*:\s*\Z')
_LINE = re.compile(rb"\n")
_LINE_OF_VALUE = re.compile(rb"\n(?=[{\[])")
_LOOK_BEHIND = 64  # More than enough to see what stands before a bracket, where the text before is let go of.
_CLOSER = {b"{": b"}", b"[": b"]"}


@frozen
class Document:
    """One entry of a file, not yet decoded, or why there is none: either `body` or `error` is set.

    `line` is where it begins, from 1; None where it is the file itself that cannot be read. `final` is True of an error
    behind which nothing of the file is read.
    """

    file: str
    line: int | None
    body: bytes = b""
    error: str = ""
    final: bool = False


class _Broken(Exception):
    """Say that the text stops being JSON."""


class Scanner:
    """Iterate over the entries of a text that comes in chunks.

    The text may hold any number of values, each an entry, a list of entries, or a page of a registry: an object with
    a list of entries under `servers`. Lists and pages are never held whole; an entry of more than `limit` bytes is
    passed over. A value that is broken gives one error, and the scan goes on at a later line; behind a break in a list
    nothing can be trusted any more, and the scan ends.
    """

    def __init__(self, file: str, chunks: Iterable[bytes], limit: int) -> None:
        self._file = file
        self._chunks = (chunk for chunk in chunks if chunk)
        self._limit = limit
        self._text = b""  # The part of the file at hand; the offsets below are offsets in it.
        self._at = 0
        self._before = 0  # Where the token before the latest one ended.
        self._counted, self._lines = 0, 1  # The line of an offset, from which further lines are counted.
        self._start, self._start_line = 0, 1  # Where the entry at hand begins.
        self._kept = False  # Whether its text is kept.
        self._in_list = False

    def __iter__(self) -> Iterator[Document]:
        if not self._skip(_BLANK):
            yield Document(self._file, None, error="The file is empty.", final=True)
        while first := self._skip(_BLANK):
            self._begin()
            try:
                if first == b"{":
                    yield from self._object()
                elif first == b"[":
                    self._at += 1
                    yield from self._list()
                else:
                    self._rest_of_line()
                    yield self._entry(self._at)
            except _Broken as broken:
                error = f"The JSON breaks off in line {self._line()}: {broken}."
                if self._in_list:
                    more = self._skip(_BLANK)
                    yield self._error(f"{error} The rest of the file is not read." if more else error, final=True)
                    return
                yield self._error(error)
                self._resume()

    def _object(self) -> Iterator[Document]:
        """Read an object that is in no list: an entry, or a page, which shows when its list begins."""
        is_page = False
        self._at += 1
        while (bracket := self._next(_BRACKET)) != b"}":
            if bracket == b"[" and _SERVERS.search(self._text, max(self._before - 1, 0), self._at - 1):
                is_page = True
                yield from self._list()
                self._in_list = True
                self._begin(keep=False)
            else:
                self._nest(bracket, b"}")
        self._in_list = False
        if not is_page:
            entry = self._entry(self._at)
            if self._skip(_SPACE) not in (b"", b"\n", b"{", b"["):
                self._rest_of_line()
                entry = self._error("The line goes on behind the entry.")
            yield entry

    def _list(self) -> Iterator[Document]:
        """Read a list behind its bracket: what lies between its commas."""
        self._in_list = True
        token, first = b",", True
        while token == b",":
            self._skip(_BLANK)
            self._begin()
            while (token := self._next(_BRACKET_OR_COMMA)) not in (b",", b"]"):
                self._nest(token, b"]")
            if self._at - 1 > self._start:
                yield self._entry(self._at - 1)
            elif token == b"," or not first:
                yield self._error("There is no entry beside the comma.")
            first = False
        self._in_list = False

    def _nest(self, bracket: bytes, due: bytes) -> None:
        """Go behind the bracket that closes `bracket`; where it closes something itself, it is not what is `due`."""
        closers, deeper = [due], 0
        while True:
            if bracket in _CLOSER:
                # A value follows '[', ',' or ':'. One that does not is the next line, of which this one is no part.
                if self._text[max(self._before - 1, 0) : self._at - 1].rstrip()[-1:] not in b",:[":
                    raise _Broken(f"'{bracket.decode()}' follows where a comma or '{closers[-1].decode()}' is due")
                if len(closers) < NESTING:
                    closers.append(_CLOSER[bracket])
                else:
                    deeper += 1
            elif deeper:
                deeper -= 1
            elif bracket != (expected := closers.pop()):
                raise _Broken(f"'{bracket.decode()}' stands where '{expected.decode()}' is due")
            if len(closers) == 1:
                return
            bracket = self._next(_BRACKET)

    def _next(self, token: re.Pattern[bytes]) -> bytes:
        """Go behind the next `token` that is not in a string, and return it."""
        self._before = self._at
        while True:
            found = token.match(self._text, self._at)
            assert found is not None, "it matches the empty text"
            self._at = found.end()
            if found[1]:
                return found[1]
            if found[2]:
                self._string()
            elif not self._more():
                raise _Broken("the file ends before it does")

    def _string(self) -> None:
        """Go behind the end of a string."""
        while True:
            inside = _IN_STRING.match(self._text, self._at)
            assert inside is not None, "it matches the empty text"
            self._at = inside.end()
            if self._text.startswith(b'"', self._at):
                self._at += 1
                return
            if self._text[self._at :] not in (b"", b"\\"):
                raise _Broken("a string is not closed in its line")
            if not self._more():
                raise _Broken("the file ends in a string")

    def _rest_of_line(self) -> None:
        while (end := self._text.find(b"\n", self._at)) < 0:
            self._at = len(self._text)
            if not self._more():
                return
        self._at = end

    def _resume(self) -> None:
        """Go on behind a broken value.

        In JSON lines the next line is the next value. Where the value had reached another line before it broke, it was
        either a line cut short or an object over many lines, and the next value begins where a line begins with one.
        """
        lines = self._line() - self._start_line
        behind = _LINE_OF_VALUE if lines else _LINE
        if lines <= REREAD and self._kept and self._at - self._start <= self._limit:
            self._at = self._counted = self._start
            self._lines = self._start_line
        else:
            self._at -= 2  # What broke the value may be the bracket that begins a line.
        self._kept = False
        while not (found := behind.search(self._text, self._at)):
            self._at = max(self._at, len(self._text) - 1)
            if not self._more():
                self._at = len(self._text)
                return
        self._at = found.end()

    def _skip(self, what: re.Pattern[bytes]) -> bytes:
        """Go behind `what` and return the byte that follows, or nothing at the end of the file."""
        while True:
            found = what.match(self._text, self._at)
            assert found is not None, "it matches the empty text"
            self._at = found.end()
            if self._at < len(self._text) or not self._more():
                return self._text[self._at : self._at + 1]

    def _more(self) -> bool:
        """Get the next chunk, letting go of what is not needed any more; return whether there was one."""
        chunk = next(self._chunks, b"")
        if self._at - self._start > self._limit:
            self._kept = False
        gone = max(0, (self._start if self._kept else self._at) - _LOOK_BEHIND)
        if gone > self._counted:
            self._count(gone)
        self._text = self._text[gone:] + chunk
        self._at -= gone
        self._start -= gone
        self._before -= gone
        self._counted -= gone
        return bool(chunk)

    def _count(self, offset: int) -> None:
        self._lines += self._text.count(b"\n", self._counted, offset)
        self._counted = offset

    def _line(self) -> int:
        return self._lines + self._text.count(b"\n", self._counted, self._at)

    def _begin(self, *, keep: bool = True) -> None:
        self._count(self._at)
        self._start, self._start_line, self._kept = self._at, self._lines, keep

    def _entry(self, end: int) -> Document:
        """Return the text of the entry that ends at `end`, and let go of it."""
        fits = self._kept and end - self._start <= self._limit
        self._kept = False
        if not fits:
            return self._error(f"The entry is larger than {self._limit:,} bytes.")
        return Document(self._file, self._start_line, self._text[self._start : end].rstrip())

    def _error(self, error: str, *, final: bool = False) -> Document:
        return Document(self._file, self._start_line, error=error, final=final)
