"""The endpoint over HTTP: what is sent, and hostile responses."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator
from typing import Any, cast

import pytest
import pytest_twisted  # type: ignore[import-untyped]
from attrs import define, field
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock, deferLater
from twisted.web.resource import Resource
from twisted.web.server import NOT_DONE_YET, Site

from directory_server.domain.ports.tracing import untraced
from directory_server.features.embeddings.endpoint import (
    PASSAGES_DEADLINE,
    QUERY_DEADLINE,
    EndpointFailed,
    endpoint_of,
    max_bytes,
)
from directory_server.features.embeddings.settings import EmbeddingsConfig
from directory_server.runtime.run_sync import inline
from tests.contract import awaited

KEY = "sk-very-secret"


@define(eq=False)
class FakeService(Resource):
    """A service that responds with what `respond` returns for a request; it records the requests."""

    respond: Callable[[Any], bytes | int]
    received: list[tuple[dict[str, Any], dict[str, str]]] = field(factory=list)
    isLeaf = True

    def __attrs_pre_init__(self) -> None:
        super().__init__()

    def render(self, request: Any) -> bytes | int:
        headers = {
            name.decode().lower(): values[0].decode() for name, values in request.requestHeaders.getAllRawHeaders()
        }
        self.received.append((json.loads(request.content.read()), headers))
        return self.respond(request)


def vectors(request: Any) -> bytes:
    request.content.seek(0)
    count = len(json.loads(request.content.read())["input"])
    return json.dumps({"data": [{"index": place, "embedding": [1, place]} for place in range(count)]}).encode()


@define(eq=False)
class Harness:
    """A service on a loopback port, its client, and a clock for deadlines."""

    service: FakeService
    port: int
    clock: Clock

    def endpoint(self, clock: Any = None, **settings: Any) -> Any:
        from twisted.internet import reactor

        url = f"http://127.0.0.1:{self.port}/v1/embeddings"
        endpoint = endpoint_of(reactor, inline, EmbeddingsConfig(url=url, **settings), KEY, untraced)
        if clock is not None:
            object.__setattr__(endpoint._client, "_clock", clock)
        self.opened.append(endpoint)
        return endpoint

    opened: list[Any] = field(factory=list)


@pytest.fixture
def harness() -> Iterator[Harness]:
    from twisted.internet import reactor

    service, network = FakeService(vectors), cast(Any, reactor)
    port = network.listenTCP(0, Site(service), interface="127.0.0.1")
    harness = Harness(service, port.getHost().port, Clock())
    yield harness
    for endpoint in harness.opened:
        pytest_twisted.blockon(endpoint.close())
    pytest_twisted.blockon(port.stopListening())


@awaited
async def test_sends_model_prefix_and_key(harness: Harness) -> None:
    endpoint = harness.endpoint(model="m", query_prefix="query: ", passage_prefix="passage: ", dimensions=2)
    assert await endpoint.passages(["a", "b"]) == [b"\x7f\x00", b"\x7f\x7f"]
    assert await endpoint.query("c") == b"\x7f\x00"
    (passages, headers), (query, _) = harness.service.received
    common = {"model": "m", "encoding_format": "float", "dimensions": 2}
    assert passages == {**common, "input": ["passage: a", "passage: b"]}
    assert query == {**common, "input": ["query: c"]}
    assert headers["authorization"] == f"Bearer {KEY}"
    assert headers["content-type"] == "application/json"
    assert headers["user-agent"].startswith("directory-server/")


@awaited
async def test_queries_may_have_a_model_of_their_own(harness: Harness) -> None:
    endpoint = harness.endpoint(model="m-passage", query_model="m-query")
    await endpoint.passages(["a"])
    await endpoint.query("a")
    assert [body["model"] for body, _ in harness.service.received] == ["m-passage", "m-query"]
    assert all("dimensions" not in body for body, _ in harness.service.received)


@awaited
async def test_reads_a_compressed_response(harness: Harness) -> None:
    def compressed(request: Any) -> bytes:
        request.setHeader(b"content-encoding", b"gzip")
        return gzip.compress(vectors(request))

    harness.service.respond = compressed
    assert await harness.endpoint().query("a") == b"\x7f\x00"


def status(code: int, **headers: str) -> Callable[[Any], bytes]:
    def respond(request: Any) -> bytes:
        request.setResponseCode(code)
        for name, value in headers.items():
            request.setHeader(name.encode(), value.encode())
        return b"secret details" * 100

    return respond


def bomb(request: Any) -> bytes:
    request.setHeader(b"content-encoding", b"gzip")
    return gzip.compress(b" " * (max_bytes(1) + 1))


def broken_off(request: Any) -> int:
    request.setHeader(b"content-length", b"1000")
    request.write(b'{"data":')
    request.transport.loseConnection()
    return NOT_DONE_YET


@pytest.mark.parametrize(
    ("respond", "message"),
    [
        (status(401), "It answered 401."),
        (status(500), "It answered 500."),
        (status(204), "It answered 204."),
        (status(302, location="http://127.0.0.1:1/"), "It answered 302."),
        (lambda _: b"not JSON", "It is not JSON"),
        (lambda _: b'{"data":[]}', "It has not 1 vectors"),
        (lambda _: b" " * (max_bytes(1) + 1), "It sent more than"),
        (bomb, "It sent more than"),
        (broken_off, "Its response broke off"),
    ],
)
def test_a_hostile_response_is_an_error(harness: Harness, respond: Callable[[Any], bytes], message: str) -> Any:
    harness.service.respond = respond

    async def check() -> None:
        with pytest.raises(EndpointFailed) as caught:
            await harness.endpoint().query("a")
        assert caught.value.message.startswith(message)
        assert "secret details" not in caught.value.message
        assert KEY not in str(caught.value)

    return Deferred.fromCoroutine(check())


@awaited
async def test_a_silent_endpoint_is_an_error_after_the_deadline(harness: Harness) -> None:
    from twisted.internet import reactor

    harness.service.respond = lambda _: NOT_DONE_YET
    for ask, deadline in (("query", QUERY_DEADLINE), ("passages", PASSAGES_DEADLINE)):
        harness.service.received.clear()
        endpoint = harness.endpoint(harness.clock)
        request = Deferred.fromCoroutine(endpoint.query("a") if ask == "query" else endpoint.passages(["a"]))
        while not harness.service.received:
            await deferLater(reactor, 0.01)
        harness.clock.advance(deadline)
        with pytest.raises(EndpointFailed, match=f"It did not answer within {deadline:g} seconds"):
            await request


@awaited
async def test_an_endpoint_that_nobody_serves_is_an_error(harness: Harness) -> None:
    harness.port = 1
    endpoint = harness.endpoint()
    with pytest.raises(EndpointFailed, match=r"It cannot be reached \("):
        await endpoint.query("a")


def test_the_key_is_not_shown(harness: Harness) -> None:
    assert KEY not in repr(harness.endpoint())
