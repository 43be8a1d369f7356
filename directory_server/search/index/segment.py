"""Segments: documents as arrays, and the postings of their terms, ordered by term."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from hashlib import blake2b
from typing import Any, TypeVar

import numpy as np
from attrs import define, evolve, field
from numpy.typing import NDArray

from ...serialization import encode_hit, registered_name
from ..tables.files import NOTHING, HashedTexts, Texts
from ..tables.near_words import NearWords
from ..tables.word_vectors import DIMENSIONS
from .arrays import Bools, Floats, Ints, Longs, Sets, Shorts, Vectors
from .document import BARE_NAME, DESCRIBED, NAMED, SHORT_NAME, WEIGHT, Document
from .fields import impacts
from .packed import Packed

T = TypeVar("T")

WIDTH, HASHED = 48, 32
"""Bytes of a string in the table; the bytes of a longer one that are kept before its hash."""

FLAGS = NAMED | DESCRIBED
SHIFT = 2
"""The bits of a posting that are the flags of its term, and their number."""

UNIT = 1 << 13
"""The stored impact of 1. The greatest impact is below 2."""

FEW_STRINGS = 10_000
"""Strings of which the tables of misspelt words are made in about 5 ms."""

_MISSPELT = "", SHORT_NAME, BARE_NAME
"""The beginnings of strings that misspelt words are compared with."""

_OF_DOCUMENTS = "keys", "priors", "facts", "stars", "updated", "described", "vectors"
"""The columns with a number, or a row of them, for each document."""

_OF_BYTES = "hits", "phrases", "tools"
"""The columns with bytes for each document."""


@define(eq=False)
class Segment:
    """Documents by number, and the postings of their terms. Its arrays do not change.

    `table` has the terms and special terms. The postings of the one at a place are `docs` and `values` from
    `starts[place]` to `starts[place + 1]`; the last place is that of strings that no document has. A value is an impact
    and the flags of the term. `keys` has the hash of each mcp_id, `described` the number of terms in
    each description; for the other columns see `document.Row`. `hits` has the records of hits (see `serialization`).
    """

    table: HashedTexts
    starts: Longs
    docs: Ints
    values: Shorts
    keys: Sets
    priors: Floats
    facts: Sets
    stars: Ints
    updated: Ints
    described: Shorts
    vectors: Vectors
    hits: Packed
    phrases: Packed
    tools: Packed
    _made: dict[Hashable, Any] = field(factory=dict, init=False, repr=False)
    _starts: memoryview = field(init=False, repr=False)
    """`starts`: items of a memoryview take a third of the time of those of an array."""

    def __attrs_post_init__(self) -> None:
        self._starts = memoryview(self.starts.data)

    def __len__(self) -> int:
        return len(self.keys)

    @classmethod
    def of(cls, documents: Sequence[Document]) -> Segment:
        numbers: dict[str, int] = {}
        places = [
            numbers.setdefault(term, len(numbers))
            for document in documents
            for terms in (document.terms, document.special_terms)
            for term in terms
        ]
        strings = np.array([packed(term) for term in numbers], f"S{WIDTH}")
        order = np.argsort(strings, kind="stable")
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order))
        sizes = np.array([[len(document.terms), len(document.special_terms)] for document in documents])
        # The weights of words, one after the other, and those of special terms, which have an impact of 1.
        is_word = np.repeat(np.tile([True, False], len(documents)), sizes.reshape(-1))
        weights = np.frombuffer(b"".join(document.weights for document in documents), WEIGHT).astype(np.float32)
        flags = np.frombuffer(b"".join(document.flags for document in documents), np.uint8)
        values = np.full(len(places), UNIT << SHIFT, np.uint16)
        stored = np.maximum(np.rint(impacts(weights, (flags & NAMED).astype(np.float32)) * UNIT), 1)
        values[is_word] = stored.astype(np.uint16) << SHIFT | flags
        postings = _ordered(len(strings), rank[places], np.repeat(np.arange(len(documents)), sizes.sum(axis=1)), values)
        rows = [document.row for document in documents]
        return cls(
            HashedTexts.of(strings[order]),
            *postings,
            np.array([key_of(row.mcp_id) for row in rows], np.uint64),
            np.array([row.prior for row in rows], np.float32),
            np.array([row.facts for row in rows], np.uint64),
            np.array([row.sorting.stars for row in rows], np.int32),
            np.array([row.sorting.updated for row in rows], np.int32),
            np.array([sum(flag & DESCRIBED > 0 for flag in document.flags) for document in documents], np.uint16),
            np.frombuffer(b"".join([row.vector for row in rows]), np.int8).reshape(-1, DIMENSIONS),
            Packed.of([encode_hit(row.hit, row.name) for row in rows]),
            Packed.of([row.phrases.encode("utf-8", "surrogatepass") for row in rows]),
            Packed.of([row.tools for row in rows]),
        )

    @classmethod
    def merge(cls, parts: Sequence[tuple[Segment, Bools]]) -> Segment:
        """Return a segment of the documents of `parts` for which their booleans are true."""
        numbers, docs, values, base = [], [], [], 0
        strings, inverse = np.unique(np.concatenate([part.strings for part, _ in parts]), return_inverse=True)
        at = 0
        for part, live in parts:
            kept = live[part.docs]
            renumbered = np.cumsum(live, dtype=np.int32) - np.int32(1 - base)
            its_numbers = inverse[at : at + len(part.strings)].astype(np.int32)
            numbers.append(np.repeat(its_numbers, np.diff(part.starts)[:-1])[kept])
            docs.append(renumbered[part.docs[kept]])
            values.append(part.values[kept])
            at, base = at + len(part.strings), base + int(np.count_nonzero(live))
        used = np.zeros(len(strings) + 1, bool)
        for of_part in numbers:
            used[of_part] = True
        places = np.cumsum(used, dtype=np.int32) - 1
        postings = _ordered(
            int(np.count_nonzero(used)), places[np.concatenate(numbers)], np.concatenate(docs), np.concatenate(values)
        )
        columns: dict[str, Any] = {
            **{name: np.concatenate([getattr(part, name)[live] for part, live in parts]) for name in _OF_DOCUMENTS},
            **{name: Packed.merge([(getattr(part, name), live) for part, live in parts]) for name in _OF_BYTES},
        }
        return cls(HashedTexts.of(strings[used[:-1]]), *postings, **columns)

    def within(self, mask: Bools) -> Segment:
        """Return the segment with the postings of the documents in `mask` only, under the same numbers."""
        kept = mask[self.docs]
        ends = np.concatenate([[0], np.cumsum(kept)])
        return evolve(self, starts=ends[self.starts], docs=self.docs[kept], values=self.values[kept])

    def once(self, name: Hashable, make: Callable[[], T]) -> T:
        """Return what `make` returned for `name` the first time. There must be few names: no text of a query."""
        try:
            made: T = self._made[name]
        except KeyError:
            made = self._made[name] = make()
        return made

    @property
    def counts(self) -> Longs:
        """The number of documents of each string, and 0 for no string."""
        return self.once("counts", lambda: np.diff(self.starts))

    @property
    def strings(self) -> Texts:
        """The terms and special terms, in the order of their bytes."""
        return self.table.texts

    def find(self, string: str) -> int:
        """Return the place of a string, the last place if no document has it."""
        return self.find_all((packed(string),))[0]

    def find_all(self, strings: Sequence[bytes]) -> list[int]:
        """Return the place of each of some strings, which are packed."""
        last = len(self.table)
        return [last if place == NOTHING else place for place in self.table.find_all(strings)]

    def span_of(self, place: int) -> slice:
        """Return where the postings of the string at a place are."""
        return slice(self._starts[place], self._starts[place + 1])

    def having(self, string: str) -> Ints:
        """Return the documents with a string, in ascending order."""
        return self.docs[self.span_of(self.find(string))]

    def span(self, prefix: str) -> slice:
        """Return the places of the strings that begin with `prefix`."""
        raw = prefix.encode("utf-8", "surrogatepass")
        if len(raw) > WIDTH:
            return slice(0, 0)
        bounds = np.array([raw, raw + b"\xff" * (WIDTH - len(raw))], self.strings.dtype)
        first, last = np.searchsorted(self.strings, bounds).tolist()
        return slice(first, last)

    def near_words(self, prefix: str = "") -> NearWords:
        """Return the strings that begin with `prefix`, or the terms, of which a misspelt word is looked up."""
        return self.once(("near", prefix), lambda: self._near_words(prefix))

    @property
    def has_near_words(self) -> bool:
        """Whether the tables of misspelt words are made, or are made at once: of 285,000 strings in 0.4 seconds."""
        return len(self.strings) <= FEW_STRINGS or all(("near", prefix) in self._made for prefix in _MISSPELT)

    def make_near_words(self) -> None:
        """Make the tables of misspelt words."""
        for prefix in _MISSPELT:
            self.near_words(prefix)

    def _near_words(self, prefix: str) -> NearWords:
        # Special terms come before all words, because they begin with a zero.
        span = self.span(prefix) if prefix else slice(int(np.searchsorted(self.strings, b"\1")), len(self.strings))
        # Strings that no document has, in a segment of a scope, are none.
        return NearWords.of(self.strings[span], self.counts[span] > 0, len(prefix))

    def text(self, place: int) -> str:
        """Return the string at a place; of a long one the beginning and its hash."""
        text: bytes = self.strings[place]
        return text.decode("utf-8", "replace")

    def number_of(self, mcp_id: str) -> int | None:
        """Return the number of the document of `mcp_id`, or None."""
        order = self.once("order", lambda: np.argsort(self.keys, kind="stable"))
        key = np.uint64(key_of(mcp_id))
        place = int(np.searchsorted(self.keys, key, sorter=order))
        number = int(order[place]) if place < len(order) else 0
        return number if place < len(order) and self.keys[number] == key else None

    def name(self, number: int) -> str:
        """Return the server name of a document."""
        return registered_name(self.hits[number])

    def columns(self) -> Mapping[str, NDArray[Any]]:
        """Return the arrays of the segment by name, as a file has them."""
        arrays = {name: getattr(self, name) for name in ("starts", "docs", "values", *_OF_DOCUMENTS)}
        packs = {name: getattr(self, name) for name in _OF_BYTES}
        return {
            "strings": self.strings.view(np.uint8),
            "slots": self.table.slots,
            **{name: array.reshape(-1) for name, array in arrays.items()},
            **{f"{name}.data": pack.data for name, pack in packs.items()},
            **{f"{name}.offsets": pack.offsets for name, pack in packs.items()},
        }


def packed(string: str) -> bytes:
    """Return the bytes of a string in the table: of a long one the beginning and a hash."""
    raw = string.encode("utf-8", "surrogatepass")
    if len(raw) <= WIDTH:
        return raw
    # A cut inside of a character would not be the beginning of the text of these bytes.
    beginning = raw[:HASHED].decode("utf-8", "ignore").encode()
    return beginning + blake2b(raw, digest_size=8).hexdigest().encode()


def key_of(mcp_id: str) -> int:
    """Return the hash of an mcp_id, the same in every process."""
    return int.from_bytes(blake2b(mcp_id.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def _ordered(size: int, places: Longs | Ints, docs: Longs | Ints, values: Shorts) -> tuple[Longs, Ints, Shorts]:
    """Return the starts, documents and values of postings of `size` strings, in the order of their places."""
    order = np.argsort(places, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(places, minlength=size))]).astype(np.int64)
    # One more, for strings that no document has.
    return np.append(starts, starts[-1]), docs[order].astype(np.int32), values[order]
