"""The vectors of entries by model, in the tables of the database, and the lease of the process that makes them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from attrs import asdict, frozen

from ...tables import Rows, Tables, transaction

_PROGRESS = "SELECT log, seq, is_complete, revision, removed FROM embedding_model WHERE model = :model"

_HOLD = """
    INSERT INTO embedding_model AS held (model, holder, until)
    VALUES (:model, :holder, clock_seconds() + CAST(:seconds AS double precision))
    ON CONFLICT (model) DO UPDATE SET holder = excluded.holder, until = excluded.until
        WHERE held.holder = excluded.holder OR held.until <= clock_seconds()
            OR held.until > excluded.until + CAST(:seconds AS double precision)
"""

_RELEASE = "UPDATE embedding_model SET holder = '', until = clock_seconds() WHERE model = :model AND holder = :holder"

_DIGESTS = "SELECT mcp_id, digest FROM embedding WHERE model = :model AND mcp_id = ANY(:mcp_ids)"

_IS_HELD = "model = :model AND holder = :holder AND until > clock_seconds()"

_NUMBER = f"""
    UPDATE embedding_model SET
        revision = revision + CAST(:count AS bigint),
        removed = removed + (SELECT count(*) FROM embedding WHERE model = :model AND mcp_id = ANY(:removed))
    WHERE {_IS_HELD} RETURNING revision
"""

_PUT = """
    INSERT INTO embedding (model, mcp_id, revision, digest, vector)
    VALUES (:model, :mcp_id, :revision, :digest, :vector)
    ON CONFLICT (model, mcp_id) DO UPDATE SET
        revision = excluded.revision, digest = excluded.digest, vector = excluded.vector
"""

_REMOVE = "DELETE FROM embedding WHERE model = :model AND mcp_id = ANY(:removed)"

_ADVANCE = f"""
    UPDATE embedding_model SET log = :log, seq = :seq, is_complete = greatest(is_complete, CAST(:complete AS bigint))
    WHERE {_IS_HELD}
"""

_READ = """
    SELECT revision, mcp_id, vector FROM embedding WHERE model = :model AND revision > :after
    ORDER BY revision LIMIT :limit
"""

_UNUSED = """
    SELECT model FROM embedding_model
    WHERE model <> :model AND until < clock_seconds() - CAST(:unused AS double precision) ORDER BY model LIMIT 1
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
    """How far the vectors of a model are: the entries of all changes to `seq` of the change log with id `log` have one.

    `is_complete` means that this was once the end of the log. `revision` is that of the vector that was written last.
    `removed` is the number of vectors that were deleted.
    """

    log: str = ""
    seq: int = 0
    is_complete: bool = False
    revision: int = 0
    removed: int = 0


@frozen
class Embeddings:
    """Vectors of entries, shared by all processes. `model` is the id of a model and of the form of its texts.

    Only the holder of the lease of a model writes its vectors, so revisions are in the order of commits. All methods
    raise Unavailable.
    """

    _tables: Tables

    async def progress(self, model: str) -> Progress:
        """Return how far the vectors of `model` are."""
        row = await self._tables.one(_PROGRESS, model=model)
        if row is None:
            return Progress()
        log, seq, is_complete, revision, removed = row
        return Progress(log, seq, bool(is_complete), revision, removed)

    async def hold(self, model: str, holder: str, *, seconds: float) -> bool:
        """Acquire or renew the lease to write vectors of `model`; return False if another holder has it."""
        lease = {"model": model, "holder": holder, "seconds": seconds}
        return await self._tables.write(lambda rows: rows.execute(_HOLD, **lease)) > 0

    async def release(self, model: str, holder: str) -> None:
        """Release the lease."""
        await self._tables.write(lambda rows: rows.execute(_RELEASE, model=model, holder=holder))

    async def digests(self, model: str, mcp_ids: Collection[str]) -> Mapping[str, bytes]:
        """Return the digests of the texts of those of `mcp_ids` that have a vector."""
        rows = await self._tables.select(_DIGESTS, model=model, mcp_ids=list(mcp_ids))
        return {mcp_id: bytes(digest) for mcp_id, digest in rows}

    @transaction
    def put(self, rows: Rows, model: str, holder: str, embeddings: Sequence[Embedding], removed: Sequence[str]) -> bool:
        """Store vectors of different entries, and delete those of the entries `removed`.

        Return False, and change nothing, if the lease of `holder` has ended.
        """
        row = rows.one(_NUMBER, model=model, holder=holder, count=len(embeddings), removed=removed)
        if row is None:
            return False
        added = [
            {"model": model, "revision": revision, **asdict(embedding)}
            for revision, embedding in enumerate(embeddings, row[0] - len(embeddings) + 1)
        ]
        rows.many(_PUT, added)
        if removed:
            rows.execute(_REMOVE, model=model, removed=removed)
        return True

    async def advance(self, model: str, holder: str, log: str, seq: int, *, is_complete: bool) -> bool:
        """Store that all changes to `seq` of the log have their vectors; return False if the lease has ended."""
        values = {"model": model, "holder": holder, "log": log, "seq": seq, "complete": int(is_complete)}
        return await self._tables.write(lambda rows: rows.execute(_ADVANCE, **values)) > 0

    async def read(self, model: str, after: int, limit: int) -> Sequence[tuple[int, str, bytes]]:
        """Return at most `limit` revisions above `after`, in order, with the `mcp_id` and the vector of each."""
        rows = await self._tables.select(_READ, model=model, after=after, limit=limit)
        return [(revision, mcp_id, bytes(vector)) for revision, mcp_id, vector in rows]

    @transaction
    def forget_others(self, rows: Rows, model: str, limit: int, *, unused: float) -> int:
        """Delete at most `limit` vectors of other models that nobody has made for `unused` seconds; return how many."""
        row = rows.one(_UNUSED, model=model, unused=unused)
        if row is None:
            return 0
        deleted = rows.execute(_FORGET, model=row[0], limit=limit)
        rows.execute(_FORGET_MODEL, model=row[0])
        return deleted
