"""Recording of the last use of a key, by requests through the shipped composition."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from twisted.internet.address import IPv4Address
from twisted.internet.task import Clock

from directory_server.domain.clients import Client
from directory_server.domain.errors import Unavailable
from directory_server.domain.keys import KeyUse
from directory_server.http.proxies import Proxies
from directory_server.memory import AccessData, MemoryAccounts, MemoryKeyRing, MemoryKeyUses
from directory_server.run_sync import run_sync
from directory_server.web.key_uses import INTERVAL, KeyUseRecorder

from ..logs import captured_lines
from .conftest import PROTOCOL_HEADERS, Server

SEARCH = "/api/open/v1/search?keywords=postgres"
CURL = {"User-Agent": "curl/8.5.0"}


def initialize(**info: object) -> dict[str, object]:
    params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": info}
    return {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}


def modern(**info: object) -> dict[str, object]:
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": info,
    }
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}}


def stored(server: Server) -> list[tuple[float, str, str]]:
    """Return time, network and client of the stored uses, after writing what is noted."""
    run_sync(server.key_uses.flush())
    with server.database.connection() as connection:
        return connection.execute("SELECT at, network, client FROM key_use").fetchall()


def test_a_request_notes_network_and_program(server: Server) -> None:
    began = server.clock.seconds()
    server.get(SEARCH, headers=CURL, address="192.0.2.77")
    assert stored(server) == [(began, "192.0.2.0/24", "curl")]
    server.get(SEARCH, key="mcpd_unknown", headers=CURL)
    server.clock.advance(INTERVAL)
    server.get(SEARCH, headers={**CURL, "X-Forwarded-For": "2001:db8:1:2::3"}, address="10.0.0.1")
    assert stored(server) == [(began + INTERVAL, "2001:db8:1::/48", "curl")]


def test_uses_are_written_once_per_interval_and_not_by_the_request(server: Server) -> None:
    with server.database.connection() as connection:
        before = connection.total_changes
        for _ in range(10):
            server.get("/api/open/v1/entries/none", headers=CURL)
            server.clock.advance(INTERVAL / 10 - 1)
        assert connection.total_changes == before
    assert len(stored(server)) == 1
    server.get(SEARCH, headers={"User-Agent": "other"})
    assert [client for *_, client in stored(server)] == ["curl"]
    server.clock.advance(INTERVAL)
    server.get(SEARCH, headers={"User-Agent": "other"})
    assert [client for *_, client in stored(server)] == ["other"]


def test_an_mcp_client_is_named_by_its_client_info(server: Server) -> None:
    node = {"User-Agent": "node"}
    server.post(initialize(name="claude-code", title="Claude\u202e Code"), headers=node)
    assert [client for *_, client in stored(server)] == ["Claude Code"]
    # Later requests of the session have the User-Agent only.
    server.clock.advance(INTERVAL)
    server.post({"jsonrpc": "2.0", "id": 1, "method": "ping"}, headers=node)
    assert [client for *_, client in stored(server)] == ["Claude Code"]
    server.clock.advance(INTERVAL)
    server.get(SEARCH, headers=CURL)
    assert [client for *_, client in stored(server)] == ["curl"]


def test_a_stateless_mcp_client_is_named_by_each_request(server: Server) -> None:
    headers = {**PROTOCOL_HEADERS, "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/list"}
    assert server.post(modern(name="zed", version="1"), headers=headers).status == 200
    assert [client for *_, client in stored(server)] == ["zed"]


@pytest.mark.parametrize("info", [None, "x", 7, [], {"name": 7}, {"name": "\x00" * 9_000}])
def test_hostile_client_info_is_harmless(server: Server, info: Any) -> None:
    message: Any = initialize()
    message["params"]["clientInfo"] = info
    assert server.post(message, headers=CURL).status == 200
    ((_, _, client),) = stored(server)
    assert client in ("curl", "\ufffd…")


@pytest.mark.parametrize("server", [{"last_use": 0.0}], indirect=True)
def test_a_lifetime_of_0_stores_nothing_and_deletes_what_is_stored(server: Server) -> None:
    with server.database.connection() as connection:
        connection.execute("INSERT INTO key_use VALUES (?, ?, '192.0.2.0/24', 'old')", (server.key_id, 1.0))
    server.get(SEARCH, headers=CURL)
    server.post(initialize(name="claude-code"))
    assert [client for *_, client in stored(server)] == ["old"]
    run_sync(server.key_uses.forget())
    assert stored(server) == []


@pytest.mark.parametrize("server", [{"last_use": 1_000.0}], indirect=True)
def test_uses_are_deleted_after_their_lifetime(server: Server) -> None:
    server.get(SEARCH, headers=CURL)
    assert len(stored(server)) == 1
    server.clock.advance(999)
    run_sync(server.key_uses.forget())
    assert len(stored(server)) == 1
    server.clock.advance(1)
    run_sync(server.key_uses.forget())
    assert stored(server) == []


class FailingUses(MemoryKeyUses):
    """Uses whose storage is unavailable while `fails`."""

    fails = True

    async def record(self, uses: Any) -> None:
        if self.fails:
            raise Unavailable("The disk is full.")
        await super().record(uses)


def test_a_failed_write_is_logged_and_the_next_use_is_written() -> None:
    clock = Clock()
    data = AccessData()
    ann = run_sync(MemoryAccounts(data, clock.seconds).add("ann@example.org"))
    key, _ = run_sync(MemoryKeyRing(data, clock.seconds).create("k", limit=1, expires_at=None, owner=ann.id))
    uses = FailingUses(data)
    recorder = KeyUseRecorder(uses, Proxies(), clock.seconds, 60.0)
    request: Any = SimpleNamespace(
        received={b"user-agent": [b"curl/8"]}, client=IPv4Address("TCP", "127.0.0.1", 50_000)
    )
    with captured_lines() as lines:
        recorder.note(key.id, request)
        run_sync(recorder.flush())
    assert any("Uses of keys cannot be written: The disk is full." in line for line in lines)
    FailingUses.fails = False
    recorder.note(key.id, request)
    run_sync(recorder.flush())
    assert run_sync(uses.list(ann.id)) == {key.id: KeyUse(key.id, 0.0, Client("127.0.0.0/24", "curl"))}
