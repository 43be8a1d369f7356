"""Admission of charged requests: what waits, what does not, and what is not charged."""

from __future__ import annotations

from typing import Any

import pytest
from twisted.internet.defer import Deferred

from directory_server.web.authentication import PER_CLIENT, TOTAL, WAIT

from .conftest import Connection, Server, parse_response

SEARCH = "/api/open/v1/search?keywords="


class Held:
    """Searches that do not end before the test wants it."""

    def __init__(self, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
        self.searches: list[Deferred[None]] = []
        self.queries: list[str] = []
        search = server.directory._index.search

        async def held(query: Any) -> Any:
            self.queries.append(query.keywords)
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
        (503, "unavailable", str(WAIT))
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

    def search(client: str, proxy: str = "10.0.0.1") -> Connection:
        headers = {"X-Forwarded-For": f"203.0.113.9, {client}"}
        key_id, key = server.new_key()
        # No page of another search is used.
        return server.open("GET", f"{SEARCH}{client}+{key_id}", key=key, headers=headers, address=proxy)

    crowd = [search("192.0.2.1") for _ in range(TOTAL + 3)]
    # What a client writes itself does not count: it is no trusted proxy.
    search("192.0.2.7", proxy="198.51.100.1")
    search("192.0.2.8", proxy="198.51.100.1")
    search("192.0.2.2")
    assert len(held.queries) == TOTAL
    for number in range(4):
        held.searches[number].callback(None)
        crowd[number].received()
    assert [query.split()[0] for query in held.queries[TOTAL:]] == ["192.0.2.1", "192.0.2.7", "192.0.2.2", "192.0.2.1"]
