"""The vectors of all entries: made in the background by one of all processes, and read by all."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from hashlib import blake2b
from typing import Any

from attrs import define, field, frozen
from twisted.logger import Logger

from ... import serialization
from ...domain.changes import Change
from ...domain.entries import Entry
from ...domain.ports.runtime import Offload
from ...services.follower import Followed, Follower, Later, unleased
from .endpoint import Endpoint, EndpointFailed
from .settings import EmbeddingsConfig
from .vectors import Embedding, Embeddings, Vectors

FORM = 1
"""The number of the form of the texts. Another number makes all vectors again."""

MAX_TEXT = 220
"""Characters of an entry that the model reads: beyond them it is slower, and no better."""


@frozen
class Passage:
    """The text of an entry, and its digest."""

    mcp_id: str
    text: str
    digest: bytes


def text_of(entry: Entry) -> str:
    """Return the text of `entry` that the model reads: its title, or else a part of its name, and a description."""
    name = entry.title or entry.name.rpartition("/")[2].replace("-", " ").replace("_", " ")
    description = max((entry.brief, entry.long_description, *entry.descriptions.values()), key=len)
    return f"{name}. {description}"[:MAX_TEXT]


def passages(changes: Sequence[Change]) -> tuple[Sequence[Passage], Sequence[str]]:
    """Return the texts of the entries of `changes`, once for each, and the ids of those that were removed."""
    latest = {change.mcp_id: change for change in changes}
    removed = [mcp_id for mcp_id, change in latest.items() if change.body is None]
    texts = {
        mcp_id: text_of(serialization.restore_entry(change.body))
        for mcp_id, change in latest.items()
        if change.body is not None
    }
    return [Passage(mcp_id, text, _digest(text, 16)) for mcp_id, text in texts.items()], removed


def model_id(settings: EmbeddingsConfig) -> str:
    """Return the id of the vectors of entries: equal if the same model reads the same texts."""
    parts = (FORM, settings.model, settings.passage_prefix, settings.dimensions)
    return _digest(serialization.text(parts), 8).hex()


def _digest(text: str, size: int) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=size).digest()


INTERVAL = 5.0
"""Seconds between two looks for new entries and new vectors."""

ROWS = 10_000
"""Vectors that are read from the storage at a time."""

MAX_BATCH = 128
"""Entries in a request."""

LEASE = 300.0
"""Seconds for which a process may make vectors without renewing its lease: twice as long as a request takes."""

RETRY, LONGEST_RETRY = 15.0, 900.0
"""Seconds until a failed request is repeated, at first and at most."""

UNUSED = 86_400.0
"""Seconds after which the vectors of a model that another one has replaced are deleted."""

FORGOTTEN = 500
"""Vectors of such a model that are deleted at a time."""

STALE = 1_000
"""Deleted vectors beside a quarter of all, after which the memory is filled again."""


@define(eq=False, repr=False)
class VectorBuilder:
    """Makes the vectors of entries that have none for `model`, and reads those of all processes into `vectors`.

    `count` is called with the number of vectors made by each request.
    """

    _log = Logger()

    _model: str
    _batch: int
    _endpoint: Endpoint
    _embeddings: Embeddings
    _offload: Offload
    _count: Callable[[int], None]
    _hold: Callable[[], Awaitable[bool]] = field(default=unleased, init=False)
    _read_until: int = field(default=0, init=False)
    _removed: int = field(default=0, init=False)
    """The revision of the last vector that was read, and the number of those deleted before."""
    _delay: float = field(default=0.0, init=False)
    _error: str = field(default="", init=False)
    vectors: Vectors = field(factory=Vectors, init=False)
    is_complete: bool = field(default=False, init=False)
    """Whether all entries had a vector once, and all of these were read."""

    def follower(self, storage: Followed, clock: Any) -> Follower:
        """Return the service that makes vectors. Its stop cancels a request that waits for an answer."""
        follower = Follower(
            storage,
            clock,
            lambda: None,
            "vectors of entries",
            self._apply,
            version=self._version,
            prepare=self._prepare,
            complete=self._complete,
            ruled=False,
            seconds=LEASE,
            interval=INTERVAL,
            cancels=True,
        )
        self._hold = follower.hold
        return follower

    async def read(self) -> None:
        """Read the vectors that are new; all of them, if many of those in memory were deleted."""
        progress = await self._embeddings.progress(self._model)
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

    async def close(self) -> None:
        """Close the connections to the endpoint."""
        await self._endpoint.close()

    async def _version(self) -> str:
        return self._model

    async def _prepare(self) -> bool:
        await self.read()
        return False

    async def _complete(self) -> bool:
        await self._embeddings.complete(self._model)
        return False

    async def _apply(self, changes: Sequence[Change]) -> bool:
        """Make the missing vectors of `changes`. Raises Later if the endpoint fails, and CancelledError."""
        read, removed = await self._offload(passages, changes)
        try:
            await self._make(read, removed)
        except EndpointFailed as error:
            self._delay = min(2 * self._delay or RETRY, LONGEST_RETRY)
            if error.message != self._error:
                self._error = error.message
                self._log.warn("Vectors of entries cannot be made now; retrying: {reason}", reason=error.message)
            raise Later(self._delay) from None
        self._delay, self._error = 0.0, ""
        await self._embeddings.forget_others(self._model, FORGOTTEN, unused=UNUSED)
        return False

    async def _make(self, read: Sequence[Passage], removed: Sequence[str]) -> None:
        """Make the vectors of the texts that have none."""
        known = await self._embeddings.digests(self._model, [passage.mcp_id for passage in read])
        missing = [passage for passage in read if known.get(passage.mcp_id) != passage.digest]
        # Texts of about the same length take the endpoint the least time.
        missing.sort(key=lambda passage: len(passage.text))
        if removed:
            await self._embeddings.put(self._model, [], removed)
        size = min(self._batch, MAX_BATCH)
        for start in range(0, len(missing), size):
            if not await self._hold():
                raise Later(0.0)
            batch = missing[start : start + size]
            made = [
                Embedding(passage.mcp_id, passage.digest, vector)
                for passage, vector in zip(batch, await self._vectors_of(batch), strict=True)
            ]
            await self._embeddings.put(self._model, made, [])
            self._count(len(made))

    async def _vectors_of(self, batch: Sequence[Passage]) -> Sequence[bytes]:
        vectors = await self._endpoint.passages([passage.text for passage in batch])
        expected = self.vectors.dimensions or len(vectors[0])
        if len(vectors[0]) != expected:
            raise EndpointFailed(
                f"It gives vectors of {len(vectors[0])} numbers, and the stored ones have {expected}. "
                "Another embeddings.model makes all vectors again."
            )
        return vectors
