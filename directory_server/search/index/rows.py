"""The stored fields of documents, as bytes instead of an object for each."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np
from attrs import field, frozen

from ...serialization import decode_hit, encode_hit, registered_name
from ..text.word_vectors import DIMENSIONS
from .arrays import Bools, Floats, Ints, Longs, Sets, Vectors
from .document import Row
from .memory import Keep, in_memory
from .packed import Packed

MIN_DESCRIPTION = 20
"""Characters of the shortest description that counts as a copy of an equal one."""


@frozen(eq=False)
class Rows:
    """The rows of documents, by number.

    `hits` has the records of hits (see serialization), and `phrases` the text for exact phrases. `keys` has the hash of
    each mcp_id, and `briefs` that of each description, 0 for a short one. `priors` are those of the entries alone, and
    `facts` their facts as bits (see `domain.facts`). `stars` and `updated` are as in `listing.Sorting`. `vectors` has a
    row for each document (see `text.word_vectors`). `tools` has the stored tools, see `index.tools`. `order` has the
    documents in the order of `keys`, in numpy's own type of positions: it would copy others for each search.
    """

    hits: Packed
    phrases: Packed
    keys: Sets
    briefs: Sets
    priors: Floats
    facts: Sets
    stars: Ints
    updated: Ints
    vectors: Vectors
    tools: Packed
    order: Longs = field(repr=False)

    @order.default
    def _order_of_keys(self) -> Longs:
        return self.keys.argsort(kind="stable")

    @classmethod
    def of(cls, rows: Sequence[Row]) -> Rows:
        """Return `rows`, packed."""
        briefs = [row.hit.brief for row in rows]
        return cls(
            Packed.of([encode_hit(row.hit, row.name) for row in rows]),
            Packed.of([row.phrases.encode("utf-8", "surrogatepass") for row in rows]),
            np.array([key_of(row.mcp_id) for row in rows], np.uint64),
            np.array([_hash(brief) if len(brief) >= MIN_DESCRIPTION else 0 for brief in briefs], np.uint64),
            np.array([row.prior for row in rows], np.float32),
            np.array([row.facts for row in rows], np.uint64),
            np.array([row.sorting.stars for row in rows], np.int32),
            np.array([row.sorting.updated for row in rows], np.int32),
            np.frombuffer(b"".join([row.vector for row in rows]), np.int8).reshape(-1, DIMENSIONS),
            Packed.of([row.tools for row in rows]),
        )

    @classmethod
    def merge(cls, parts: Sequence[tuple[Rows, Bools]], keep: Keep = in_memory) -> Rows:
        """Return the rows of all `parts` for which their booleans are true."""
        return cls(
            Packed.merge([(rows.hits, kept) for rows, kept in parts], keep),
            Packed.merge([(rows.phrases, kept) for rows, kept in parts], keep),
            keep(np.concatenate([rows.keys[kept] for rows, kept in parts])),
            keep(np.concatenate([rows.briefs[kept] for rows, kept in parts])),
            keep(np.concatenate([rows.priors[kept] for rows, kept in parts])),
            keep(np.concatenate([rows.facts[kept] for rows, kept in parts])),
            keep(np.concatenate([rows.stars[kept] for rows, kept in parts])),
            keep(np.concatenate([rows.updated[kept] for rows, kept in parts])),
            keep(np.concatenate([rows.vectors[kept].reshape(-1) for rows, kept in parts])).reshape(-1, DIMENSIONS),
            Packed.merge([(rows.tools, kept) for rows, kept in parts], keep),
        )

    def __len__(self) -> int:
        return len(self.keys)

    def name(self, number: int) -> str:
        """Return the server name of a document."""
        return registered_name(self.record(number))

    def record(self, number: int) -> bytes:
        """Return the record of the hit of a document."""
        return bytes(self.hits[number])

    def having(self, numbers: Ints, phrases: Sequence[str]) -> Bools:
        """Return for each document of `numbers` whether its text has all `phrases`."""
        found = np.ones(len(numbers), bool)
        # The longest is likely the rarest.
        for key in sorted((phrase.encode("utf-8", "surrogatepass") for phrase in phrases), key=len, reverse=True):
            left = np.flatnonzero(found)
            found[left] = self.phrases.containing(numbers[left], key)
        return found

    def find(self, mcp_id: str) -> int | None:
        """Return the number of the document of `mcp_id`, or None."""
        key = np.uint64(key_of(mcp_id))
        place = int(self.keys.searchsorted(key, sorter=self.order))
        while place < len(self) and self.keys[self.order[place]] == key:
            number = int(self.order[place])
            if decode_hit(self.record(number)).mcp_id == mcp_id:
                return number
            place += 1
        return None


def key_of(mcp_id: str) -> int:
    """Return the hash of an mcp_id, the same in every process."""
    return _hash(mcp_id)


def _hash(text: str) -> int:
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")
