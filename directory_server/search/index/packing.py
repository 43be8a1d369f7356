"""Packed documents: an entry is analysed when it is published, and its document is stored as bytes, with a version.

Data of another version is replaced: entries are analysed again when they are next read, and the file of the index is
written again. Raise the number of what a change of code affects. `tests/search/test_versions.py` prints the digest of a
fixed sample where it differs from the one beside the number. Record that one, too: the versions contain both.
"""

from __future__ import annotations

import unicodedata
from functools import cache
from hashlib import blake2b
from importlib.metadata import version
from sys import byteorder

import orjson

from ...domain.entries import Entry
from ...domain.views import Hit
from ...text_marks import rules
from ..tables.word_vectors import DIMENSIONS
from .document import WEIGHT, Document, Row, build_document
from .facets import Sorting, listed


class TextAnalysis:
    """Implement the Analysis port: return the packed document of an entry."""

    @property
    def version(self) -> str:
        return analysis_version()

    def __call__(self, entry: Entry) -> bytes:
        return pack(build_document(entry))


def pack(document: Document) -> bytes:
    """Return `document` as bytes: JSON, a line of terms, the vector, weights and flags of terms, tools."""
    row, hit = document.row, document.row.hit
    hit_fields = hit.name, hit.brief, hit.website_url, hit.server_name, hit.status, hit.status_message
    summary = "" if hit.summary == hit.brief else hit.summary
    facts = orjson.dumps(
        [
            *(row.mcp_id, row.name, *hit_fields, summary, hit.flags, row.prior, row.phrases, row.facts),
            *(row.sorting.stars, row.sorting.updated),
            document.special_terms,
        ]
    )
    # No term contains a space or a line feed.
    terms = " ".join(document.terms).encode()
    return b"\n".join((facts, terms, row.vector + document.weights + document.flags + row.tools))


def unpack(packed: bytes) -> Document:
    """Return the document that `pack` encoded as `packed`."""
    facts, words, numbers = packed.split(b"\n", 2)
    terms = words.decode().split()
    weights = DIMENSIONS + len(terms) * WEIGHT.itemsize
    flags = weights + len(terms)
    *fields, special_terms = orjson.loads(facts)
    mcp_id, name, *hit_fields, prior, phrases, bits, stars, updated = fields
    hit_name, brief, website_url, server_name, status, status_message, summary, marks = hit_fields
    named = mcp_id, hit_name, brief, website_url, server_name
    hit = Hit(*named, status=status, status_message=status_message, summary=summary or brief, flags=tuple(marks))
    sorting = Sorting(stars, updated)
    hit = listed(hit, bits, sorting)
    row = Row(mcp_id, name, hit, prior, phrases, bits, sorting, numbers[:DIMENSIONS], numbers[flags:])
    return Document(row, terms, numbers[DIMENSIONS:weights], numbers[weights:flags], special_terms)


ANALYSIS, ANALYSED_SAMPLE = 19, "5c63be5d75086e80"
"""The number of the analysis of entries, and the digest of the packed documents of the sample."""

FILE, INDEXED_SAMPLE = 13, "ffab66514b7ba6a3"
"""The number of the index of analysed entries and of its file, and the digest of the columns of the sample."""

_TEXT_LIBRARIES = "opencc-python-reimplemented", "PyStemmer", "regex"
"""The libraries that determine the analysis, beside the Unicode data of Python."""

_INDEX_LIBRARIES = "directory-server", "numpy", "orjson"
"""The packages that determine the content of the file as well. A release has a file of its own."""


@cache
def analysis_version() -> str:
    parts = ANALYSIS, ANALYSED_SAMPLE, rules().version, unicodedata.unidata_version
    return _digest(*parts, *map(version, _TEXT_LIBRARIES))


@cache
def file_version() -> str:
    return _digest(FILE, INDEXED_SAMPLE, analysis_version(), byteorder, *map(version, _INDEX_LIBRARIES))


def _digest(*parts: object) -> str:
    return blake2b(repr(parts).encode(), digest_size=8).hexdigest()
