"""Bodies of responses: the limit of small chunks."""

from __future__ import annotations

from typing import Any

import pytest
from twisted.internet.testing import StringTransport
from twisted.python.failure import Failure
from twisted.web.client import ResponseDone

from directory_server.http_client import BadResponse
from directory_server.http_client._bounded_agent import MEAN_CHUNK, SMALL_CHUNKS, _Bounded

MAX_BYTES = 4_000_000


class Body:
    """The protocol that receives a body."""

    def __init__(self) -> None:
        self.received: list[bytes] = []
        self.end: Failure | None = None

    def makeConnection(self, transport: Any) -> None:
        pass

    def dataReceived(self, data: bytes) -> None:
        self.received.append(data)

    def connectionLost(self, reason: Failure) -> None:
        self.end = reason


@pytest.mark.parametrize(
    ("size", "count", "is_accepted"),
    [
        (1, SMALL_CHUNKS, True),
        (1, SMALL_CHUNKS + SMALL_CHUNKS // 32, False),
        (MEAN_CHUNK, MAX_BYTES // MEAN_CHUNK, True),
        (MEAN_CHUNK // 2, MAX_BYTES // MEAN_CHUNK, False),
    ],
)
def test_the_number_of_small_chunks_is_bounded(size: int, count: int, is_accepted: bool) -> None:
    """Each chunk takes time of the reactor: 4 MB of single bytes took 13 seconds."""
    body, transport = Body(), StringTransport()
    bounded = _Bounded(body, b"", MAX_BYTES)  # type: ignore[arg-type]
    bounded.makeConnection(transport)
    for _ in range(count):
        bounded.dataReceived(b"a" * size)
    bounded.connectionLost(Failure(ResponseDone()))
    assert body.end is not None
    assert (len(body.received) == count, body.end.check(BadResponse) is None) == (is_accepted, is_accepted)
    assert bool(transport.disconnecting) is not is_accepted
