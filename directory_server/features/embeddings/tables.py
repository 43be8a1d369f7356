"""The vectors of entries by model, in the tables of the database."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from attrs import asdict, frozen

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
