"""Packed documents: an entry is analysed when it is published, and its document is stored as bytes."""

from __future__ import annotations

import orjson

from ...domain.entries import Entry
from ...domain.views import Hit
from ..text.word_vectors import DIMENSIONS
from .document import WEIGHT, Document, Row, build_document
from .listing import Sorting, listed
from .versions import analysis_version


class TextAnalysis:
    """Implement the Analysis port: return the packed document of an entry."""

    @property
    def version(self) -> str:
        return analysis_version()

    def __call__(self, entry: Entry) -> bytes:
        return pack(build_document(entry))


def pack(document: Document) -> bytes:
    """Return `document` as bytes: a line of JSON, a line of words, the vector, the weights of words, and the tools."""
    row, hit = document.row, document.row.hit
    hit_fields = hit.name, hit.brief, hit.website_url, hit.server_name, hit.status, hit.status_message
    summary = "" if hit.summary == hit.brief else hit.summary
    facts = orjson.dumps(
        [
            *(row.mcp_id, row.name, *hit_fields, summary, hit.flags, row.prior, row.phrases, row.facts),
            *(row.sorting.stars, row.sorting.updated),
            *(document.named, document.described, document.special_terms),
        ]
    )
    # No word contains a line feed.
    return b"\n".join((facts, document.words.encode(), row.vector + document.weights + row.tools))


def unpack(packed: bytes) -> Document:
    """Return the document that `pack` encoded as `packed`."""
    facts, words, numbers = packed.split(b"\n", 2)
    size = DIMENSIONS + len(words.split()) * WEIGHT.itemsize
    fields = orjson.loads(facts)
    mcp_id, name, *hit_fields, prior, phrases, bits, stars, updated = fields[:-3]
    hit_name, brief, website_url, server_name, status, status_message, summary, flags = hit_fields
    named = mcp_id, hit_name, brief, website_url, server_name
    hit = Hit(*named, status=status, status_message=status_message, summary=summary or brief, flags=tuple(flags))
    sorting = Sorting(stars, updated)
    hit = listed(hit, bits, sorting)
    row = Row(mcp_id, name, hit, prior, phrases, bits, sorting, numbers[:DIMENSIONS], numbers[size:])
    return Document(row, words.decode(), numbers[DIMENSIONS:size], *fields[-3:])
