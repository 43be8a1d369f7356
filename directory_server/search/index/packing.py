"""Packed documents: an entry is analysed when it is published, and its document is stored as bytes."""

from __future__ import annotations

import unicodedata
from functools import cached_property
from hashlib import blake2b
from importlib.metadata import version
from importlib.resources import files

import orjson
from attrs import frozen

from ...domain.entries import Entry
from ...domain.facts import auth_of, runs_of
from ...domain.views import Hit
from .document import Document, Row, build_document
from .listing import Sorting

_SOURCES = (
    "search/text/analysis.py",
    "search/index/bm25.py",
    "search/index/document.py",
    "search/index/listing.py",
    "search/index/packing.py",
    "search/index/verified.py",
    "sanitize.py",
    "domain/limits.py",
    "domain/entries.py",
    "domain/facts.py",
    "domain/filters.py",
    "domain/fact_words.py",
    "domain/languages.py",
    "domain/licenses.py",
    "domain/placeholders.py",
    "domain/verified.py",
    "domain/versions.py",
)
"""The modules that determine the content of a packed document. Update the paths when a file is renamed."""

_LIBRARIES = ("opencc-python-reimplemented", "regex")
"""The libraries that determine it."""


@frozen(slots=False)
class TextAnalysis:
    """Implement the Analysis port: return the packed document of an entry."""

    @cached_property
    def version(self) -> str:
        """A digest of the code and libraries that determine the analysis, which therefore needs no version number."""
        sources = [files("directory_server").joinpath(name).read_bytes() for name in _SOURCES]
        libraries = [version(library).encode() for library in _LIBRARIES]
        content = b"\0".join((*sources, *libraries, unicodedata.unidata_version.encode()))
        return blake2b(content, digest_size=8).hexdigest()

    def __call__(self, entry: Entry) -> bytes:
        return pack(build_document(entry))


def pack(document: Document) -> bytes:
    """Return `document` as bytes: a line of JSON, a line of words, and their weights."""
    row, hit = document.row, document.row.hit
    hit_fields = hit.name, hit.brief, hit.website_url, hit.server_name
    facts = orjson.dumps(
        [
            *(row.mcp_id, row.name, *hit_fields, row.prior, row.phrases, row.facts),
            *(row.sorting.stars, row.sorting.updated, row.categories),
            *(document.named, document.described, document.special_terms),
        ]
    )
    # No word contains a line feed.
    return b"\n".join((facts, document.words.encode(), document.weights))


def unpack(packed: bytes) -> Document:
    """Return the document that `pack` encoded as `packed`."""
    facts, words, weights = packed.split(b"\n", 2)
    fields = orjson.loads(facts)
    mcp_id, name, *hit_fields, prior, phrases, bits, stars, updated, categories = fields[:-3]
    hit_name, brief, website_url, server_name = hit_fields
    hit = Hit(mcp_id, hit_name, brief, website_url, server_name, auth_of(bits), runs_of(bits))
    row = Row(mcp_id, name, hit, prior, phrases, bits, Sorting(stars, updated), categories)
    return Document(row, words.decode(), weights, *fields[-3:])
