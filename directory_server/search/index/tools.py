"""The tools of documents: what hits say of them, and their words, for searches that name tools.

The tools of a document are one byte string: their number and the number of terms of each (uint16), the terms (uint32:
a hash of 24 bits and an impact of 8 bits), and their texts as JSON. Hashes stay valid when segments are merged, unlike
the numbers of a vocabulary. Another term has the hash of a word of the query in about one page of 200.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from zlib import crc32

import numpy as np
import orjson
from attrs import astuple, evolve, frozen
from numpy.typing import NDArray

from ...domain.tools import MAX_OFFERED, OfferedTool, first_line
from .fields import K1, Field

MAX_TERMS = 48
"""Distinct terms of a tool that searches compare, those of the greatest impact."""

MAX_BYTES = 48_000
"""Bytes of the texts of the tools of a document. Later tools are left out."""

HAS_TOOLS = "\0match:tools"
"""The special term of documents with tools, which the filter `match:tools` requires."""

IMPACTS = 255
"""The stored impact of a term that a tool would have infinitely often."""

FIELDS = (
    Field(2, 2.5, 0.6, 260, is_name=True),  # name and title
    Field(1, 25, 0.6, 400),  # description
    Field(0.3, 10, 0.6, 240, is_name=True),  # parameters
)

COUNT, TERM = np.dtype("<u2"), np.dtype("<u4")
"""The stored types of a number and of a term with its impact."""


@frozen
class ToolTerms:
    """The terms of the tools of a document: `counts` of each tool, and the terms of all."""

    counts: NDArray[np.uint16]
    terms: NDArray[np.uint32]


def encode_tools(tools: Sequence[OfferedTool]) -> bytes:
    """Return the stored form of the tools of a document, nothing for none."""
    texts: list[bytes] = []
    size = 0
    for tool in tools[:MAX_OFFERED]:
        text = orjson.dumps(astuple(evolve(tool, description=first_line(tool.description))))
        size += len(text)
        if size > MAX_BYTES:
            break
        texts.append(text)
    if not texts:
        return b""
    terms = [_terms(tool) for tool in tools[: len(texts)]]
    counts = np.array([len(texts), *map(len, terms)], COUNT)
    return b"".join((counts.tobytes(), np.concatenate(terms).tobytes(), b"[%s]" % b",".join(texts)))


def tool_terms(stored: bytes) -> ToolTerms:
    """Return the terms of the tools in `stored`, which has at least one tool."""
    number = int(np.frombuffer(stored, COUNT, 1)[0])
    counts = np.frombuffer(stored, COUNT, number, COUNT.itemsize)
    start = COUNT.itemsize * (1 + number)
    return ToolTerms(counts, np.frombuffer(stored, TERM, int(counts.sum()), start))


def decode_tools(stored: bytes) -> Sequence[OfferedTool]:
    """Return the tools in `stored`; the descriptions are the lines that hits have."""
    if not stored:
        return ()
    found = tool_terms(stored)
    texts = stored[COUNT.itemsize * (1 + len(found.counts)) + TERM.itemsize * len(found.terms) :]
    return [OfferedTool(*texts_of_tool) for texts_of_tool in orjson.loads(texts)]


# Queries and tools have few distinct terms. At most about 2 MB.
@lru_cache(maxsize=16_384)
def term_hash(term: str) -> int:
    """Return the hash of a term, of 24 bits."""
    return crc32(term.encode("utf-8", "surrogatepass")) >> 8


def _terms(tool: OfferedTool) -> NDArray[np.uint32]:
    """Return the hashes of the terms of a tool with their impacts, those of the greatest impact first."""
    weights: dict[str, float] = {}
    for field, text in zip(FIELDS, (f"{tool.name}\n{tool.title}", tool.description, tool.takes), strict=True):
        field.add_weights(weights, text)
    heaviest = sorted(weights.items(), key=lambda pair: -pair[1])[:MAX_TERMS]
    return np.array([term_hash(term) << 8 | round(IMPACTS * weight / (weight + K1)) for term, weight in heaviest], TERM)
