"""The vectors of entries: made in the background by one of all processes, and read by all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from attrs import define, field
from twisted.internet.defer import CancelledError, Deferred
from twisted.logger import Logger

from ...domain.errors import Unavailable
from ...domain.ports.runtime import Offload
from ...domain.ports.storage import Store
from ...timers import Timer
from .endpoint import Endpoint, EndpointFailed
from .tables import Embedding, Embeddings, Progress
from .texts import Passage, passages
from .vectors import Vectors

INTERVAL = 5.0
"""Seconds between two looks for new entries and new vectors."""

CHANGES, CHANGES_BYTES = 500, 4_000_000
"""Changes, and about the bytes of entries, whose texts are read at a time."""

ROWS = 10_000
"""Vectors that are read from the storage at a time."""

MAX_BATCH = 128
"""Entries in a request."""

LEASE = 300.0
"""Seconds for which a process may make vectors without renewing its lease: longer than a request takes."""

RETRY, LONGEST_RETRY = 15.0, 900.0
"""Seconds until a failed request is repeated, at first and at most."""

UNUSED = 86_400.0
"""Seconds after which vectors of a model that no process makes any more are deleted."""

FORGOTTEN = 500
"""Vectors of such a model that are deleted at a time."""

STALE = 1_000
"""Deleted vectors beside a quarter of all, after which the memory is filled again."""


@define(eq=False, repr=False)
class VectorBuilder(Timer):
    """Make the vectors of entries that have none for `model`, and read those of all processes into `vectors`.

    `holder` identifies the process. `count` is called with the number of vectors made by each request.
    """

    _log = Logger()

    _model: str
    _batch: int
    _endpoint: Endpoint
    _store: Store
    _embeddings: Embeddings
    _offload: Offload
    _clock: Any
    _holder: str
    _count: Callable[[int], None]
    _request: Deferred[Sequence[bytes]] | None = field(default=None, init=False)
    _read_until: int = field(default=0, init=False)
    _removed: int = field(default=0, init=False)
    """The revision of the last vector that was read, and the number of those deleted before."""
    _retry_at: float = field(default=0.0, init=False)
    _delay: float = field(default=0.0, init=False)
    _error: str = field(default="", init=False)
    vectors: Vectors = field(factory=Vectors, init=False)
    is_complete: bool = field(default=False, init=False)
    """Whether all entries had a vector once, and all of these were read."""

    def __attrs_post_init__(self) -> None:
        super().__init__(INTERVAL, self._round, self._clock, finish=self._close)

    def stopService(self) -> Deferred[object] | None:
        if self._request is not None:
            self._request.cancel()
        return super().stopService()

    async def _close(self) -> None:
        await self._endpoint.close()

    async def _round(self) -> None:
        """Read new vectors, and make those that are missing unless another process does."""
        progress = await self._embeddings.progress(self._model)
        await self._read(progress)
        if self._clock.seconds() >= self._retry_at and await self._is_due(progress):
            await self._make_as_holder()
            await self._read(await self._embeddings.progress(self._model))

    async def _is_due(self, progress: Progress) -> bool:
        log, head = await self._store.log_id(), await self._store.head()
        return progress.log != log or progress.seq != head or not progress.is_complete

    async def _read(self, progress: Progress) -> None:
        """Read the vectors that are new; all of them, if many of those in memory were deleted."""
        if progress.removed - self._removed > STALE + len(self.vectors) // 4:
            self.vectors.clear()
            self._read_until, self._removed = 0, progress.removed
        while self._read_until < progress.revision:
            rows = await self._embeddings.read(self._model, self._read_until, ROWS)
            if not rows:
                break
            await self._offload(self.vectors.add, [(mcp_id, vector) for _, mcp_id, vector in rows])
            self._read_until = rows[-1][0]
        self.is_complete = progress.is_complete

    async def _make_as_holder(self) -> None:
        if not await self._embeddings.hold(self._model, self._holder, seconds=LEASE):
            return
        try:
            await self._make()
        except EndpointFailed as error:
            self._delay = min(2 * self._delay or RETRY, LONGEST_RETRY)
            self._retry_at = self._clock.seconds() + self._delay
            if error.message != self._error:
                self._error = error.message
                self._log.warn("Vectors of entries cannot be made now; retrying: {reason}", reason=error.message)
        except CancelledError:
            pass
        else:
            self._delay, self._error = 0.0, ""
        finally:
            try:
                await self._embeddings.release(self._model, self._holder)
            except Unavailable:
                self._log.debug("The lease to make vectors ends by itself")

    async def _make(self) -> None:
        """Make the missing vectors of all changes of the log. Raises EndpointFailed, CancelledError and Unavailable."""
        log, progress = await self._store.log_id(), await self._embeddings.progress(self._model)
        seq = progress.seq if progress.log == log else 0
        while self.running:
            changes = await self._store.changes(seq, CHANGES, CHANGES_BYTES)
            if changes:
                read, removed = await self._offload(passages, changes)
                if not await self._make_missing(read, removed):
                    return
                seq = changes[-1].seq
            is_complete = not changes
            if not await self._embeddings.advance(self._model, self._holder, log, seq, is_complete=is_complete):
                return
            if is_complete:
                await self._embeddings.forget_others(self._model, FORGOTTEN, unused=UNUSED)
                return

    async def _make_missing(self, read: Sequence[Passage], removed: Sequence[str]) -> bool:
        """Make the vectors of the texts that have none; return False if another process makes vectors now."""
        known = await self._embeddings.digests(self._model, [passage.mcp_id for passage in read])
        missing = [passage for passage in read if known.get(passage.mcp_id) != passage.digest]
        # Texts of about the same length take the endpoint the least time.
        missing.sort(key=lambda passage: len(passage.text))
        if removed and not await self._embeddings.put(self._model, self._holder, [], removed):
            return False
        size = min(self._batch, MAX_BATCH)
        for start in range(0, len(missing), size):
            batch = missing[start : start + size]
            made = [
                Embedding(passage.mcp_id, passage.digest, vector)
                for passage, vector in zip(batch, await self._vectors_of(batch), strict=True)
            ]
            if not await self._embeddings.put(self._model, self._holder, made, []):
                return False
            self._count(len(made))
            if not await self._embeddings.hold(self._model, self._holder, seconds=LEASE):
                return False
        return True

    async def _vectors_of(self, batch: Sequence[Passage]) -> Sequence[bytes]:
        if not self.running:
            raise CancelledError
        request = self._request = Deferred.fromCoroutine(self._endpoint.passages([passage.text for passage in batch]))
        try:
            vectors = await request
        finally:
            self._request = None
        expected = self.vectors.dimensions or len(vectors[0])
        if len(vectors[0]) != expected:
            raise EndpointFailed(
                f"It gives vectors of {len(vectors[0])} numbers, and the stored ones have {expected}. "
                "Another embeddings.model makes all vectors again."
            )
        return vectors
