"""Documents as bytes, so that an entry is analysed when it is published, and not whenever a server starts."""

from __future__ import annotations

import unicodedata
from functools import cached_property
from hashlib import blake2b
from importlib.metadata import version
from importlib.resources import files

import orjson
from attrs import frozen

from ...domain.entries import Entry, Hit
from .document import Document, Row, document

_SOURCES = (
    "search/text/analysis.py",
    "search/index/document.py",
    "search/index/packing.py",
    "sanitize.py",
    "domain/limits.py",
    "domain/entries.py",
)
"""The modules of the package that decide what a packed document contains."""

_LIBRARIES = ("opencc-python-reimplemented", "regex")
"""What they have from others and is no part of Python."""


@frozen(slots=False)
class TextAnalysis:
    """Fulfil the Analysis port: make of an entry its document, packed."""

    @cached_property
    def version(self) -> str:
        """A digest of all that decides what this analysis gives, so that none who changes that has to say so."""
        makers = [files("directory_server").joinpath(name).read_bytes() for name in _SOURCES]
        libraries = [version(library).encode() for library in _LIBRARIES]
        makes = b"\0".join((*makers, *libraries, unicodedata.unidata_version.encode()))
        return blake2b(makes, digest_size=8).hexdigest()

    def __call__(self, entry: Entry) -> bytes:
        return pack(document(entry))


def pack(made: Document) -> bytes:
    """Return `made` as bytes: a line of JSON, a line of words, and their weights."""
    row, hit = made.row, made.row.hit
    shown = hit.name, hit.brief, hit.website_url, hit.server_name
    facts = orjson.dumps([row.mcp_id, row.name, *shown, row.prior, row.phrases, made.named, made.marks])
    # No word holds a line feed, for that is no letter.
    return b"\n".join((facts, made.words.encode(), made.weights))


def unpack(packed: bytes) -> Document:
    """Return what `pack` made `packed` of."""
    facts, words, weights = packed.split(b"\n", 2)
    mcp_id, name, shown, brief, website_url, server_name, prior, phrases, named, marks = orjson.loads(facts)
    row = Row(mcp_id, name, Hit(mcp_id, shown, brief, website_url, server_name), prior, phrases)
    return Document(row, words.decode(), weights, named, marks)
