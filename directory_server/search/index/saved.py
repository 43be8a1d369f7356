"""Snapshots as columns of a file, and back. All numbers of a file are checked before they are used as positions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import orjson
from attrs import fields, has
from numpy.typing import NDArray

from ...domain.limits import MAX_STARS
from ..text.word_vectors import DIMENSIONS
from .arrays import Ints, Longs, Offsets
from .columns import ColumnFile, Unusable
from .dictionary import Dictionary
from .facets import MAX_HOURS, UNKNOWN_STARS
from .lexicon import Lexicon
from .merging import PostingLists
from .packed import Packed
from .rows import Rows
from .segment import Segment
from .strings import StringTable
from .tiers import LiveSegment, Snapshot
from .vocabulary import UNUSED, Vocabulary

MAX_SEGMENTS = 100
"""Segments of a snapshot. The tiers keep about ten."""

Columns = dict[str, NDArray[Any]]


def to_columns(snapshot: Snapshot) -> tuple[Mapping[str, int], Columns]:
    """Return the facts and columns of `snapshot`."""
    vocabulary, lexicon = snapshot.vocabulary, snapshot.lexicon
    new, new_terms = vocabulary.new_strings()
    texts = Packed.of([string.encode("utf-8", "surrogatepass") for string in new])
    columns: Columns = {
        **dict(_columns_of(vocabulary.table, "table.")),
        **dict(_columns_of(texts, "new.")),
        "terms": vocabulary.table_terms(),
        "new.terms": new_terms,
        "lexicon": _json([lexicon.size, lexicon.documents, lexicon.pairs]),
        "pinned": _json(sorted(snapshot.pinned)),
    }
    for number, part in enumerate(snapshot.parts):
        columns[f"{number}.live"] = part.live.view(np.uint8)
        columns |= _columns_of(part.segment, f"{number}.")
    return {"segments": len(snapshot.parts)}, columns


def _columns_of(value: Any, prefix: str) -> Iterator[tuple[str, NDArray[Any]]]:
    """Yield the arrays of a segment and of its parts by their names. Strings of the vocabulary are in its table."""
    for field in fields(type(value)):
        part = getattr(value, field.name)
        if isinstance(value, Dictionary) and value.numbers is None and part is value.strings:
            continue
        if isinstance(part, np.ndarray):
            yield f"{prefix}{field.name}", part.reshape(-1)
        elif field.init and has(type(part)):
            yield from _columns_of(part, f"{prefix}{field.name}.")


def from_columns(file: ColumnFile) -> Snapshot:
    """Return the snapshot in `file`. Raise Unusable if a number in it is out of range."""
    table = _table(file, "table")
    texts = _packed(file, "new")
    terms = file.column("terms", np.int32, len(table))
    new_terms = file.column("new.terms", np.int32, len(texts.offsets) - 1)
    size = len(table) + len(new_terms)
    for numbers in (terms, new_terms):
        _check_range(numbers, UNUSED, size)
    try:
        new = [str(text, "utf-8", "surrogatepass") for text in texts.take(list(range(len(new_terms))))]
        words, documents, pairs = orjson.loads(bytes(file.column("lexicon", np.uint8)))
        pinned = frozenset(orjson.loads(bytes(file.column("pinned", np.uint8))))
    except (ValueError, TypeError):
        raise Unusable("a text in it is invalid") from None
    vocabulary = Vocabulary(table, terms, new, new_terms)
    count = file.facts.get("segments")
    if not isinstance(count, int) or not 0 <= count <= MAX_SEGMENTS:
        raise Unusable("its number of segments is invalid")
    parts = [_segment(file, f"{number}.", vocabulary).with_pins(pinned) for number in range(count)]
    return Snapshot(vocabulary, parts, Lexicon(words, pairs, documents), pinned=pinned)


def _segment(file: ColumnFile, prefix: str, vocabulary: Vocabulary) -> LiveSegment:
    live = file.column(f"{prefix}live", np.uint8)
    size = len(live)
    _check_range(live, 0, 2)
    rows = Rows(
        _packed(file, f"{prefix}rows.hits", size),
        _packed(file, f"{prefix}rows.phrases", size),
        file.column(f"{prefix}rows.keys", np.uint64, size),
        file.column(f"{prefix}rows.briefs", np.uint64, size),
        _floats(file, f"{prefix}rows.priors", size),
        file.column(f"{prefix}rows.facts", np.uint64, size),
        _range(file, f"{prefix}rows.stars", UNKNOWN_STARS, MAX_STARS + 1, size),
        _ids(file, f"{prefix}rows.updated", MAX_HOURS, size),
        file.column(f"{prefix}rows.vectors", np.int8, size * DIMENSIONS).reshape(-1, DIMENSIONS),
        _packed(file, f"{prefix}rows.tools", size),
        _order(file, f"{prefix}rows.order", size),
    )
    top_terms = _ids(file, f"{prefix}top_terms", len(vocabulary))
    top_starts = file.column(f"{prefix}top_starts", np.int64, size + 1)
    _check_offsets(top_starts, len(top_terms))
    described = file.column(f"{prefix}described", np.uint16, size)
    if np.any(described > np.diff(top_starts)):
        raise Unusable("a number in it is out of range")
    is_whole = not file.has(f"{prefix}lists.known")
    lists = _lists(file, prefix, size, vocabulary, is_whole)
    segment = Segment(
        rows,
        _dictionary(file, f"{prefix}dictionary", vocabulary, is_whole),
        _floats(file, f"{prefix}priors", size),
        lists,
        file.column(f"{prefix}named", np.int32, len(lists.starts) - 1),
        top_terms,
        file.column(f"{prefix}top_impacts", np.uint16, len(top_terms)),
        top_starts,
        described,
    )
    return LiveSegment(segment, live.view(np.bool_), int(np.count_nonzero(live)))


def _lists(file: ColumnFile, prefix: str, documents: int, vocabulary: Vocabulary, is_whole: bool) -> PostingLists:
    known = None if is_whole else _ids(file, f"{prefix}lists.known", len(vocabulary))
    if known is not None and np.any(known[1:] <= known[:-1]):
        raise Unusable("its terms are not in order")
    doc_ids = _ids(file, f"{prefix}lists.doc_ids", documents)
    impacts = file.column(f"{prefix}lists.impacts", np.uint16, len(doc_ids))
    # The last term stands for all newer ones.
    count = len(vocabulary.table if known is None else known) + 2
    starts = file.column(f"{prefix}lists.starts", np.uint32, count)
    _check_offsets(starts, len(doc_ids))
    return PostingLists(starts, doc_ids, impacts, documents, known)


def _dictionary(file: ColumnFile, prefix: str, vocabulary: Vocabulary, is_whole: bool) -> Dictionary:
    strings = vocabulary.table if is_whole else _table(file, f"{prefix}.strings")
    size = len(strings)
    terms = file.column(f"{prefix}.terms", np.int32, size)
    _check_range(terms, UNUSED, len(vocabulary))
    return Dictionary(
        strings,
        terms,
        file.column(f"{prefix}.counts", np.int32, size),
        file.column(f"{prefix}.lengths", np.uint8, size),
        file.column(f"{prefix}.letters", np.uint64, size),
        None if is_whole else _ids(file, f"{prefix}.numbers", len(vocabulary), size),
    )


def _table(file: ColumnFile, name: str) -> StringTable:
    data, offsets = file.column(f"{name}.data", np.uint8), file.column(f"{name}.offsets", np.uint32)
    _check_offsets(offsets, len(data))
    return StringTable(data, offsets)


def _packed(file: ColumnFile, name: str, count: int | None = None) -> Packed:
    data = file.column(f"{name}.data", np.uint8)
    offsets = file.column(f"{name}.offsets", np.int64, None if count is None else count + 1)
    _check_offsets(offsets, len(data))
    return Packed(data, offsets)


def _order(file: ColumnFile, name: str, size: int) -> Longs:
    """Return a column with the numbers of documents in an order."""
    found = file.column(name, np.int64, size)
    _check_range(found, 0, size)
    return found


def _ids(file: ColumnFile, name: str, below: int, count: int | None = None) -> Ints:
    """Return a column of numbers from 0 to `below` - 1."""
    return _range(file, name, 0, below, count)


def _range(file: ColumnFile, name: str, least: int, below: int, count: int | None) -> Ints:
    found = file.column(name, np.int32, count)
    _check_range(found, least, below)
    return found


def _floats(file: ColumnFile, name: str, count: int) -> NDArray[np.float32]:
    found = file.column(name, np.float32, count)
    if not np.isfinite(found).all():
        raise Unusable("a number in it is not finite")
    return found


def _check_range(numbers: NDArray[Any], least: int, below: int) -> None:
    if not len(numbers):
        return
    if least == 0 and numbers.dtype == np.int32:
        # Negative numbers are the highest ones without a sign: one pass over the numbers instead of two.
        is_valid = int(numbers.view(np.uint32).max()) < min(below, 1 << 31)
    else:
        is_valid = int(numbers.min()) >= least and int(numbers.max()) < below
    if not is_valid:
        raise Unusable("a number in it is out of range")


def _check_offsets(offsets: NDArray[np.int64] | Offsets, end: int) -> None:
    """Raise Unusable unless `offsets` ascend from 0 to `end`."""
    if not len(offsets) or offsets[0] != 0 or offsets[-1] != end or np.any(offsets[1:] < offsets[:-1]):
        raise Unusable("its offsets are not in order")


def _json(value: object) -> NDArray[np.uint8]:
    return np.frombuffer(orjson.dumps(value), np.uint8)
