"""Rate limits and connection limits of addresses."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from twisted.internet.address import IPv4Address
from twisted.internet.task import Clock

from directory_server import http
from directory_server.domain.errors import Throttled
from directory_server.domain.throttling import Limiter
from directory_server.http.proxies import Proxies
from directory_server.web.throttling import AddressLimiter

from .conftest import Connection, Server

SEARCH = "/api/open/v1/search?keywords=postgres"


def request(peer: str) -> Any:
    return SimpleNamespace(client=SimpleNamespace(host=peer), received={})


def test_a_limiter_counts_an_ipv6_network_as_one_client() -> None:
    limiter = AddressLimiter(Proxies(), Clock().seconds, rate=1, burst=2, ipv6_prefix=48)
    for last in (1, 2):
        limiter.charge(request(f"2001:db8:1:{last}::1"))
    with pytest.raises(Throttled):
        limiter.charge(request("2001:db8:1:3::1"))
    limiter.charge(request("2001:db8:2::1"))


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), max_size=60))
def test_no_sequence_exceeds_the_rate(steps: list[tuple[int, int]]) -> None:
    clock = Clock()
    limiter = AddressLimiter(Proxies(), clock.seconds, rate=1.0, burst=5)
    accepted: dict[int, list[float]] = {}
    for pause, address in steps:
        clock.advance(pause)
        try:
            limiter.charge(request(f"192.0.2.{address}"))
        except Throttled:
            continue
        accepted.setdefault(address, []).append(clock.seconds())
    for times in accepted.values():
        for first, begin in enumerate(times):
            assert all(count <= 5 + end - begin for count, end in enumerate(times[first:], 1))


def test_idle_clients_are_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("directory_server.domain.throttling.MAX_CLIENTS", 10)
    clock = Clock()
    limiter = AddressLimiter(Proxies(), clock.seconds, rate=1, burst=5)
    for last in range(100):
        limiter.charge(request(f"192.0.2.{last}"))
    assert len(limiter._limiter._arrivals) == 10
    clock.advance(60)
    for _ in range(20):
        limiter.charge(request("198.51.100.1"))
        clock.advance(60)
    assert len(limiter._limiter._arrivals) == 1


def test_new_clients_do_not_reset_one_at_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("directory_server.domain.throttling.MAX_CLIENTS", 10)
    clock = Clock()
    limiter = Limiter(clock.seconds, rate=1 / 60, burst=5)
    for _ in range(5):
        limiter.charge("victim@example.org")
    for number in range(1_000):
        limiter.charge(f"{number}@example.org")
    assert len(limiter._arrivals) <= 10
    with pytest.raises(Throttled):
        limiter.charge("victim@example.org")


def test_failed_keys_are_limited_and_a_valid_key_always_works(server: Server) -> None:
    statuses = [server.get(SEARCH, key="wrong").status for _ in range(32)]
    assert statuses == [*[401] * 30, 429, 429]
    response = server.get(SEARCH, key="also wrong")
    assert (response.json["error"], response.headers["Retry-After"]) == ("throttled", "2")
    assert server.get(SEARCH).status == 200
    server.clock.advance(2)
    assert server.get(SEARCH, key="wrong").status == 401


def connect(server: Server, address: str) -> bool:
    return isinstance(server.site.buildProtocol(IPv4Address("TCP", address, 50_000)), http.Connection)


def test_connections_are_limited_per_address(server: Server) -> None:
    connections = [Connection(server.site) for _ in range(3)]
    assert not connect(server, "127.0.0.1")
    assert connect(server, "127.0.0.2")
    connections[0].close()
    assert connect(server, "127.0.0.1")


def test_connections_are_limited_per_ipv6_network(server: Server) -> None:
    connections = [Connection(server.site, f"2001:db8::{last}") for last in range(3)]
    assert not connect(server, "2001:db8::ffff")
    assert connect(server, "2001:db8:0:1::")
    connections[0].close()
    assert connect(server, "2001:db8::ffff")


def test_proxies_are_limited_only_by_the_total(server: Server) -> None:
    connections = []
    for _ in range(5):
        assert connect(server, "10.0.0.1")
        connections.append(Connection(server.site, "10.0.0.1"))
    assert not connect(server, "10.0.0.1")
    assert not connect(server, "127.0.0.1")
    connections.pop().close()
    assert connect(server, "127.0.0.1")


def test_streams_do_not_count_as_connections(server: Server) -> None:
    for _ in range(2):
        server.open("GET", "/api/open/mcp")
    assert len(server.site.connections) == 0
