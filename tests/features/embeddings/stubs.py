"""An endpoint in memory, whose vectors depend on the words of a text."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np
from attrs import define, field
from twisted.internet.defer import Deferred

from directory_server.features.embeddings.endpoint import EndpointFailed

SIZE = 32


def vector_of(text: str, size: int = SIZE) -> bytes:
    """Return the stored vector of a text: the sum of a vector for each word."""
    total = np.zeros(size)
    for word in text.lower().replace(".", " ").split():
        seed = int.from_bytes(blake2b(word.encode(), digest_size=4).digest(), "little")
        total += np.random.default_rng(seed).normal(size=size)
    scaled: bytes = np.rint(total * (127 / max(float(np.abs(total).max()), 1e-9))).astype(np.int8).tobytes()
    return scaled


@define(eq=False)
class StubEndpoint:
    """Answers at once, unless `waits`; then `answer` and `fail` end the oldest request. `error` fails all requests."""

    size: int = SIZE
    error: str = ""
    waits: bool = False
    requests: list[list[str]] = field(factory=list)
    waiting: list[tuple[Sequence[str], Deferred[Sequence[bytes]]]] = field(factory=list)
    cancelled: int = 0
    closed: bool = False

    async def query(self, text: str) -> bytes:
        return (await self.passages([text]))[0]

    async def passages(self, texts: Sequence[str]) -> Sequence[bytes]:
        self.requests.append(list(texts))
        if self.error:
            raise EndpointFailed(self.error)
        if self.waits:
            answer: Deferred[Sequence[bytes]] = Deferred(self._cancel)
            self.waiting.append((texts, answer))
            return await answer
        return [vector_of(text, self.size) for text in texts]

    def answer(self) -> None:
        texts, waiting = self.waiting.pop(0)
        waiting.callback([vector_of(text, self.size) for text in texts])

    def fail(self, error: Exception) -> None:
        self.waiting.pop(0)[1].errback(error)

    def _cancel(self, _: object) -> None:
        self.cancelled += 1

    async def close(self) -> None:
        self.closed = True
