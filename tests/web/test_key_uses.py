"""Recording of the last use of a key, by requests through the shipped composition."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from attrs import frozen
from twisted.internet.address import IPv4Address
from twisted.internet.task import Clock

from directory_server.domain.errors import Unavailable
from directory_server.domain.keys import Client, KeyUse
from directory_server.http.proxies import Proxies
from directory_server.runtime.run_sync import run_sync
from directory_server.sqlite import Database, SqliteTables
from directory_server.tables import StoredAccounts, StoredKeyRing, StoredKeyUses
from directory_server.web.key_uses import INTERVAL, KeyUseRecorder

from ..logs import captured_lines
from .conftest import META, PROTOCOL_HEADERS, Server

SEARCH = "/api/open/v1/search?keywords=postgres"
CURL = {"User-Agent": "curl/8.5.0"}


def initialize(**info: object) -> dict[str, object]:
    params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": info}
    return {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}


def modern(**info: object) -> dict[str, object]:
    meta = {**META, "io.modelcontextprotocol/clientInfo": info}
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


def test_another_client_is_noted_at_once(server: Server) -> None:
    server.get(SEARCH, headers=CURL)
    assert [client for *_, client in stored(server)] == ["curl"]
    for name in ("other", "curl"):
        server.clock.advance(1)
        server.get(SEARCH, headers={"User-Agent": name})
        assert stored(server) == [(server.clock.seconds(), "127.0.0.0/24", name)]


def test_another_mcp_client_with_the_same_program_is_noted_at_once(server: Server) -> None:
    node = {"User-Agent": "node"}
    server.post(initialize(name="one"), headers=node)
    assert [client for *_, client in stored(server)] == ["one"]
    server.post(initialize(name="two"), headers=node)
    assert [client for *_, client in stored(server)] == ["two"]


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


@pytest.mark.parametrize("server", [{"keys.last_use": 0.0}], indirect=True)
def test_a_lifetime_of_0_stores_nothing_and_deletes_what_is_stored(server: Server) -> None:
    with server.database.connection() as connection:
        connection.execute("INSERT INTO key_use VALUES (?, ?, '192.0.2.0/24', 'old')", (server.key_id, 1.0))
    server.get(SEARCH, headers=CURL)
    server.post(initialize(name="claude-code"))
    assert [client for *_, client in stored(server)] == ["old"]
    run_sync(server.key_uses.forget())
    assert stored(server) == []


@pytest.mark.parametrize("server", [{"keys.last_use": 1_000.0}], indirect=True)
def test_uses_are_deleted_after_their_lifetime(server: Server) -> None:
    server.get(SEARCH, headers=CURL)
    assert len(stored(server)) == 1
    server.clock.advance(999)
    run_sync(server.key_uses.forget())
    assert len(stored(server)) == 1
    server.clock.advance(1)
    run_sync(server.key_uses.forget())
    assert stored(server) == []


class FailingUses(StoredKeyUses):
    """Uses whose storage is unavailable while `fails`."""

    fails = True

    async def record(self, uses: Any) -> None:
        if self.fails:
            raise Unavailable("The disk is full.")
        await super().record(uses)


@frozen
class Recording:
    """A recorder, with a clock, and the ids of two keys of one account."""

    clock: Clock
    uses: FailingUses
    recorder: KeyUseRecorder
    owner: str
    keys: list[str]

    def written(self) -> dict[str, str]:
        """Return the names of the clients of the keys, after writing what is noted."""
        run_sync(self.recorder.flush())
        return {key: use.client.name for key, use in run_sync(self.uses.list(self.owner)).items()}


@pytest.fixture
def works(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the storage be available."""
    monkeypatch.setattr(FailingUses, "fails", False)


@pytest.fixture
def recording(directory_database: Database) -> Recording:
    clock = Clock()
    tables = SqliteTables(directory_database)
    ann = run_sync(StoredAccounts(tables, clock.seconds).add("ann@example.org"))
    keys, uses = StoredKeyRing(tables, clock.seconds), FailingUses(tables)
    made = [run_sync(keys.create("k", limit=1, expires_at=None, owner=ann.id))[0].id for _ in range(2)]
    return Recording(clock, uses, KeyUseRecorder(uses, Proxies(), clock.seconds, 60.0), ann.id, made)


def request_of(program: str) -> Any:
    address = IPv4Address("TCP", "127.0.0.1", 50_000)
    return SimpleNamespace(received={b"user-agent": [program.encode()]}, client=address)


def test_failed_writes_are_logged_once_and_the_next_use_is_written(
    recording: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder, uses = recording.recorder, recording.uses
    with captured_lines() as lines:
        for _ in range(2):
            recorder.note(recording.keys[0], request_of("curl/8"))
            run_sync(recorder.flush())
    assert sum("Uses of keys cannot be written: The disk is full." in line for line in lines) == 1
    monkeypatch.setattr(FailingUses, "fails", False)
    recorder.note(recording.keys[0], request_of("curl/8"))
    run_sync(recorder.flush())
    expected = {recording.keys[0]: KeyUse(recording.keys[0], 0.0, Client("127.0.0.0/24", "curl"))}
    assert run_sync(uses.list(recording.owner)) == expected


@pytest.mark.usefixtures("works")
def test_the_memory_of_the_recorder_is_bounded(recording: Recording, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("directory_server.web.key_uses.MAX_KEYS", 1)
    recorder, (first, second) = recording.recorder, recording.keys
    recorder.note(first, request_of("curl/8"))
    recorder.note(second, request_of("wget/1"))
    assert recording.written() == {first: "curl", second: "wget"}
    # The recorder has forgotten the first key, whose interval has not passed.
    recorder.note(first, request_of("wget/1"))
    assert recording.written()[first] == "wget"
