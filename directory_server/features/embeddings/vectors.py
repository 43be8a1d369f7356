"""The vectors of all entries, stored and in memory, and the likeness of entries and a query."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np
from attrs import asdict, field, frozen
from numpy.typing import NDArray

from ...search import entry_key
from ...tables import Rows, Tables, transaction

_PROGRESS = "SELECT is_complete, revision, removed FROM embedding_model WHERE model = :model"

_DIGESTS = "SELECT mcp_id, digest FROM embedding WHERE model = :model AND mcp_id = ANY(:mcp_ids)"

# Writers wait here for each other, so revisions are in the order of commits.
_NUMBER = """
    INSERT INTO embedding_model AS stored (model, revision) VALUES (:model, CAST(:count AS bigint))
    ON CONFLICT (model) DO UPDATE SET
        revision = stored.revision + excluded.revision,
        removed = stored.removed + (SELECT count(*) FROM embedding WHERE model = :model AND mcp_id = ANY(:removed))
    RETURNING revision
"""

_PUT = """
    INSERT INTO embedding (model, mcp_id, revision, digest, vector)
    VALUES (:model, :mcp_id, :revision, :digest, :vector)
    ON CONFLICT (model, mcp_id) DO UPDATE SET
        revision = excluded.revision, digest = excluded.digest, vector = excluded.vector
"""

_REMOVE = "DELETE FROM embedding WHERE model = :model AND mcp_id = ANY(:removed)"

_COMPLETE = """
    INSERT INTO embedding_model (model, is_complete) VALUES (:model, 1)
    ON CONFLICT (model) DO UPDATE SET is_complete = 1, replaced_at = NULL
"""

_REPLACE = "UPDATE embedding_model SET replaced_at = clock_seconds() WHERE model <> :model AND replaced_at IS NULL"

_READ = """
    SELECT revision, mcp_id, vector FROM embedding WHERE model = :model AND revision > :after
    ORDER BY revision LIMIT :limit
"""

_UNUSED = """
    SELECT model FROM embedding_model
    WHERE model <> :model AND replaced_at < clock_seconds() - CAST(:unused AS double precision) ORDER BY model LIMIT 1
"""

_FORGET = """
    DELETE FROM embedding WHERE model = :model AND mcp_id IN (
        SELECT mcp_id FROM embedding WHERE model = :model ORDER BY mcp_id LIMIT :limit
    )
"""

_FORGET_MODEL = """
    DELETE FROM embedding_model
    WHERE model = :model AND NOT EXISTS (SELECT 1 FROM embedding WHERE embedding.model = :model)
"""


@frozen
class Embedding:
    """The vector of an entry: whole numbers from -127 to 127, a byte each. Only its direction has a meaning.

    `digest` is that of the text that the model has read.
    """

    mcp_id: str
    digest: bytes
    vector: bytes


@frozen
class Progress:
    """How far the vectors of a model are. `is_complete` means that all entries had one once.

    `revision` is that of the vector that was written last. `removed` is the number of vectors that were deleted.
    """

    is_complete: bool = False
    revision: int = 0
    removed: int = 0


@frozen
class Embeddings:
    """Vectors of entries, shared by all processes. `model` is the id of a model and of the form of its texts.

    All methods raise Unavailable.
    """

    _tables: Tables

    async def progress(self, model: str) -> Progress:
        """Return how far the vectors of `model` are."""
        row = await self._tables.one(_PROGRESS, model=model)
        return Progress() if row is None else Progress(bool(row[0]), row[1], row[2])

    async def digests(self, model: str, mcp_ids: Collection[str]) -> Mapping[str, bytes]:
        """Return the digests of the texts of those of `mcp_ids` that have a vector."""
        rows = await self._tables.select(_DIGESTS, model=model, mcp_ids=list(mcp_ids))
        return {mcp_id: bytes(digest) for mcp_id, digest in rows}

    @transaction
    def put(self, rows: Rows, model: str, embeddings: Sequence[Embedding], removed: Sequence[str]) -> None:
        """Store vectors of different entries, and delete those of the entries `removed`."""
        (last,) = rows.one(_NUMBER, model=model, count=len(embeddings), removed=removed)
        added = [
            {"model": model, "revision": revision, **asdict(embedding)}
            for revision, embedding in enumerate(embeddings, last - len(embeddings) + 1)
        ]
        rows.many(_PUT, added)
        if removed:
            rows.execute(_REMOVE, model=model, removed=removed)

    @transaction
    def complete(self, rows: Rows, model: str) -> None:
        """Store that all entries have a vector of `model`, which replaces all other models."""
        rows.execute(_COMPLETE, model=model)
        rows.execute(_REPLACE, model=model)

    async def read(self, model: str, after: int, limit: int) -> Sequence[tuple[int, str, bytes]]:
        """Return at most `limit` revisions above `after`, in order, with the `mcp_id` and the vector of each."""
        rows = await self._tables.select(_READ, model=model, after=after, limit=limit)
        return [(revision, mcp_id, bytes(vector)) for revision, mcp_id, vector in rows]

    @transaction
    def forget_others(self, rows: Rows, model: str, limit: int, *, unused: float) -> int:
        """Delete at most `limit` vectors of a model that was replaced `unused` seconds ago; return how many."""
        row = rows.one(_UNUSED, model=model, unused=unused)
        if row is None:
            return 0
        deleted = rows.execute(_FORGET, model=row[0], limit=limit)
        rows.execute(_FORGET_MODEL, model=row[0])
        return deleted


SAMPLE = 1_024
"""Entries by which a usual likeness is measured. Their mean is then that of all to 3 % of the standard deviation."""

DEVIATIONS = 6
"""The likeness of 1, in standard deviations of that of the query and all entries."""

LEAST_KNOWN = 0.9
"""The least share of entries with a vector. The others get the mean likeness; too many would be ranked by chance."""

GROWTH = 1.25
"""Factor by which the memory grows."""

_Floats = NDArray[np.float32]


@frozen(eq=False)
class _Table:
    """Rows of vectors. `keys` are the keys of entries in order, and `places` the rows of these.

    `sample` has unit vectors of the first entries in the order of keys, which are hashes.
    """

    rows: NDArray[np.int8]
    keys: NDArray[np.uint64] = field(factory=lambda: np.empty(0, np.uint64))
    places: NDArray[np.int64] = field(factory=lambda: np.empty(0, np.int64))
    sample: _Floats = field(factory=lambda: np.empty((0, 0), np.float32))


class Vectors:
    """Vectors of entries, a byte for each number, in a growing array. Only one thread may add at a time."""

    def __init__(self) -> None:
        self._table = _Table(np.empty((0, 0), np.int8))
        self.revision = 0
        """The number of additions."""

    def __len__(self) -> int:
        return len(self._table.keys)

    @property
    def dimensions(self) -> int:
        """The numbers of a vector; 0 if there is none."""
        return int(self._table.rows.shape[1])

    @property
    def size(self) -> int:
        """The bytes of all arrays."""
        table = self._table
        return table.rows.nbytes + table.keys.nbytes + table.places.nbytes + table.sample.nbytes

    def clear(self) -> None:
        self._table = _Table(np.empty((0, 0), np.int8))
        self.revision += 1

    def add(self, vectors: Sequence[tuple[str, bytes]]) -> None:
        """Add the vectors of entries by their ids, the last one of each. Vectors of other lengths are left out."""
        dimensions = self.dimensions or len(vectors[0][1])
        latest = {entry_key(mcp_id): vector for mcp_id, vector in vectors if len(vector) == dimensions}
        table = self._table
        known = _find(table, [*latest])
        added = np.array([key for key, place in zip(latest, known, strict=True) if place < 0], np.uint64)
        count = len(table.keys)
        rows = _with_room(table.rows, count, count + len(added), dimensions)
        places = np.where(known < 0, count + np.cumsum(known < 0) - 1, known)
        # A search that reads a row meanwhile may get a part of the old vector, which has nearly the same direction.
        rows[places] = np.frombuffer(b"".join(latest.values()), np.int8).reshape(-1, dimensions)
        keys = np.concatenate([table.keys, added])
        every = np.concatenate([table.places, np.arange(count, count + len(added))])
        order = keys.argsort(kind="stable")
        keys, every = keys[order], every[order]
        self._table = _Table(rows, keys, every, _units(rows[every[:SAMPLE]]))
        self.revision += 1

    def likeness(self, query: bytes, entries: Sequence[int]) -> Sequence[float] | None:
        """Return the likeness of each of `entries` and the vector of a query; None if too few vectors are known."""
        table = self._table
        places = _find(table, entries)
        known = places >= 0
        if len(query) != table.rows.shape[1] or known.mean() < LEAST_KNOWN:
            return None
        (direction,) = _units(np.frombuffer(query, np.int8)[None])
        usual = (table.sample @ direction).astype(np.float64)
        found = _units(table.rows[places[known]]) @ direction
        deviations = (found - usual.mean()) / max(float(usual.std()), 1e-9)
        likeness = np.full(len(entries), deviations.mean() / DEVIATIONS)
        likeness[known] = deviations / DEVIATIONS
        values: list[float] = likeness.tolist()
        return values


def _find(table: _Table, entries: Sequence[int]) -> NDArray[np.int64]:
    """Return the row of each of `entries`, -1 for those without a vector."""
    keys = np.array(entries, np.uint64)
    if not len(table.keys):
        return np.full(len(keys), -1, np.int64)
    at = np.minimum(table.keys.searchsorted(keys), len(table.keys) - 1)
    return np.where(table.keys[at] == keys, table.places[at], -1)


def _with_room(rows: NDArray[np.int8], used: int, needed: int, dimensions: int) -> NDArray[np.int8]:
    """Return `rows`, whose first `used` are kept, or a larger copy of them if they are fewer than `needed`."""
    if needed <= len(rows):
        return rows
    larger = np.empty((max(needed, int(GROWTH * len(rows))), dimensions), np.int8)
    if used:
        larger[:used] = rows[:used]
    return larger


def _units(rows: NDArray[np.int8]) -> _Floats:
    units = rows.astype(np.float32)
    units /= np.maximum(np.sqrt(np.einsum("ij,ij->i", units, units)), 1)[:, None]
    return units
