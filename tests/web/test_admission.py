"""Admission of charged requests: bounds, turns of networks and clients, and what does not wait."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import pytest
from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.task import Clock

from directory_server.domain.errors import Unavailable
from directory_server.web.admission import PER_CLIENT, PER_NETWORK, RETRY_AFTER, TOTAL, WAIT, Admission

from .conftest import Connection, Server, parse_response

SEARCH = "/api/open/v1/search?keywords="


class Requests:
    """Requests of clients, in the order of their admission."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.admission = Admission(self.clock)
        self.admitted: list[tuple[str, str]] = []
        self.rejected: list[BaseException] = []
        self.waiting: list[Deferred[None]] = []

    def enter(self, network: str, client: str) -> Deferred[None]:
        async def request() -> None:
            try:
                await self.admission.enter(network, client)
            except BaseException as error:
                self.rejected.append(error)
            else:
                self.admitted.append((network, client))

        self.waiting.append(Deferred.fromCoroutine(request()))
        return self.waiting[-1]

    def leave(self, network: str, client: str) -> None:
        self.admission.leave(network, client)
        self.clock.advance(0)

    def is_empty(self) -> bool:
        """Return whether nothing is left of any request."""
        admission = self.admission
        return not (admission._total or admission._clients or admission._networks or admission._waiting)


@pytest.fixture
def requests() -> Requests:
    return Requests()


def test_a_crowd_of_one_client_delays_no_other(requests: Requests) -> None:
    for _ in range(200):
        requests.enter("net", "crowd")
    assert requests.admitted == [("net", "crowd")] * PER_CLIENT
    requests.enter("net", "other")
    assert requests.admitted[-1] == ("net", "other")


def test_new_requests_do_not_overtake_those_that_wait(requests: Requests) -> None:
    order: list[str] = []
    for name in "abcdef":
        requests.enter("net", "one").addCallback(lambda _, name=name: order.append(name))
    # The next request of the client arrives in the turn in which one ends.
    requests.admission.leave("net", "one")
    requests.enter("net", "one").addCallback(lambda _: order.append("late"))
    requests.clock.advance(0)
    for _ in range(6):
        requests.leave("net", "one")
    assert order == [*"abcdef", "late"]


def test_networks_take_turns_and_then_their_clients(requests: Requests) -> None:
    for number in range(TOTAL):
        requests.enter(f"busy {number}", f"busy {number}")
    for client in ("a1", "a1", "a2", "a3"):
        requests.enter("a", client)
    for client in ("b1", "b1"):
        requests.enter("b", client)
    requests.enter("c", "c1")
    assert len(requests.admitted) == TOTAL
    for number in range(7):
        requests.leave(f"busy {number}", f"busy {number}")
    assert [client for _, client in requests.admitted[TOTAL:]] == ["a1", "b1", "c1", "a2", "b1", "a3", "a1"]


def test_one_network_takes_no_more_than_its_share(requests: Requests) -> None:
    for number in range(TOTAL):
        requests.enter("net", f"client {number}")
    assert len(requests.admitted) == PER_NETWORK
    requests.enter("other", "client")
    assert requests.admitted[-1] == ("other", "client")


def test_a_request_that_has_waited_too_long_is_rejected(requests: Requests) -> None:
    for _ in range(PER_CLIENT + 2):
        requests.enter("net", "one")
    requests.clock.advance(WAIT / 2)
    requests.enter("net", "one")
    requests.clock.advance(WAIT / 2)
    error, other = requests.rejected
    assert isinstance(error, Unavailable)
    assert isinstance(other, Unavailable)
    assert (error.retry_after, error.code) == (RETRY_AFTER, "unavailable")
    for _ in range(PER_CLIENT + 1):
        requests.leave("net", "one")
    assert len(requests.admitted) == PER_CLIENT + 1
    assert requests.is_empty()
    assert not requests.clock.getDelayedCalls()


def test_a_client_that_disconnects_leaves_its_place(requests: Requests) -> None:
    for _ in range(PER_CLIENT + 3):
        requests.enter("net", "one")
    requests.waiting[PER_CLIENT].cancel()
    # The next one has its place, but has not gone on yet.
    requests.admission.leave("net", "one")
    requests.waiting[PER_CLIENT + 1].cancel()
    assert [type(error) for error in requests.rejected] == [CancelledError, CancelledError]
    requests.clock.advance(0)
    assert len(requests.admitted) == PER_CLIENT + 1
    for _ in range(PER_CLIENT):
        requests.leave("net", "one")
    assert requests.is_empty()


@pytest.mark.parametrize("seed", range(5))
def test_bounds_hold_and_nothing_is_left_whatever_happens(requests: Requests, seed: int) -> None:
    random = Random(seed)
    left = 0
    for _ in range(3_000):
        action = random.random()
        if action < 0.55:
            network = f"net {random.randrange(4)}"
            requests.enter(network, f"{network} {random.randrange(30)}" if random.random() < 0.9 else "roaming")
        elif action < 0.9 and left < len(requests.admitted):
            # Any of those that are admitted ends.
            number = random.randrange(left, len(requests.admitted))
            requests.admitted[left], requests.admitted[number] = requests.admitted[number], requests.admitted[left]
            requests.admission.leave(*requests.admitted[left])
            left += 1
        elif action < 0.95 and requests.waiting:
            random.choice(requests.waiting).cancel()
        else:
            requests.clock.advance(random.choice([0.0, 0.0, WAIT / 3]))
        running = requests.admitted[left:]
        assert len(running) <= TOTAL
        assert max(Counter(network for network, _ in running).values(), default=0) <= PER_NETWORK
        assert max(Counter(client for _, client in running).values(), default=0) <= PER_CLIENT
    while left < len(requests.admitted) or requests.clock.getDelayedCalls():
        while left < len(requests.admitted):
            requests.admission.leave(*requests.admitted[left])
            left += 1
        requests.clock.advance(0)
    assert len(requests.admitted) + len(requests.rejected) == len(requests.waiting)
    assert requests.is_empty()


class Held:
    """Searches that do not end before the test wants it."""

    def __init__(self, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
        self.searches: list[Deferred[None]] = []
        search = server.directory._index.search

        async def held(query: Any) -> Any:
            self.searches.append(Deferred())
            await self.searches[-1]
            return await search(query)

        monkeypatch.setattr(type(server.directory._index), "search", lambda self, query: held(query))


@pytest.mark.parametrize("server", [{"http.connections": 100, "http.per_address": 100}], indirect=True)
def test_requests_that_wait_are_not_charged_and_then_rejected(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    held = Held(server, monkeypatch)
    crowd = [server.open("GET", f"{SEARCH}{number}") for number in range(10)]
    other = server.open("GET", f"{SEARCH}other", key=server.new_key()[1])
    # The other client's search begins at once, and what costs nothing or is a stream does not wait.
    assert len(held.searches) == PER_CLIENT + 1
    assert server.get("/healthz").status == 200
    assert server.get("/account/sign-in", key=None).status == 200
    assert server.post({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).status == 200
    stream = server.open("GET", "/api/open/v1/changes", headers={"Accept": "text/event-stream"})
    assert b"text/event-stream" in stream.received()
    server.clock.advance(WAIT)
    rejected = [parse_response(connection.received()) for connection in crowd[PER_CLIENT:]]
    assert {(each.status, each.json["error"], each.headers["Retry-After"]) for each in rejected} == {
        (503, "unavailable", str(RETRY_AFTER))
    }
    for search in held.searches:
        search.callback(None)
    answered = [parse_response(connection.received()) for connection in (*crowd[:PER_CLIENT], other)]
    # The key has paid for two searches and the stream.
    assert [each.status for each in answered] == [200] * 3
    assert server.get("/api/open/v1/unknown").status == 404
    held.searches.clear()
    last = server.open("GET", f"{SEARCH}last")
    held.searches[0].callback(None)
    assert parse_response(last.received()).headers["X-RateLimit-Remaining"] == "16"


@pytest.mark.parametrize("server", [{"http.connections": 100, "http.per_address": 100}], indirect=True)
def test_a_batch_and_a_client_that_disconnects_leave_their_places(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    params = {"name": "search_mcp", "arguments": {"keywords": "a"}}
    batch = [{"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params} for number in range(5)]
    assert [each["result"].get("isError", False) for each in server.post(batch).json] == [False] * 5
    held = Held(server, monkeypatch)
    gone = [server.open("GET", f"{SEARCH}{number}") for number in range(PER_CLIENT + 3)]
    for connection in gone:
        connection.close()
    held.searches.clear()
    connections = [server.open("GET", f"{SEARCH}again{number}") for number in range(PER_CLIENT)]
    assert len(held.searches) == PER_CLIENT
    for search in held.searches:
        search.callback(None)
    assert [parse_response(connection.received()).status for connection in connections] == [200] * PER_CLIENT


@pytest.mark.parametrize("server", [{"http.connections": 200, "http.per_address": 200}], indirect=True)
def test_behind_a_trusted_proxy_the_forwarded_address_counts(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    held = Held(server, monkeypatch)

    def search(client: str, key: str, proxy: str = "10.0.0.1") -> Connection:
        headers = {"X-Forwarded-For": f"203.0.113.9, {client}"}
        return server.open("GET", f"{SEARCH}{len(held.searches)}", key=key, headers=headers, address=proxy)

    for _ in range(PER_NETWORK):
        search("192.0.2.1", server.new_key()[1])
    assert len(held.searches) == PER_NETWORK
    _, key = server.new_key()
    search("192.0.2.1", key)
    assert len(held.searches) == PER_NETWORK
    search("192.0.2.2", key)
    assert len(held.searches) == PER_NETWORK + 1
    # What a client writes itself does not count.
    for number in range(PER_NETWORK):
        search(f"198.51.100.{number}", server.new_key()[1], proxy="192.0.2.77")
    assert len(held.searches) == TOTAL
