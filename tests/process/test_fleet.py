"""Several processes on one data directory and one port behave as one server."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection, HTTPResponse
from select import select
from threading import Event

import pytest
from attrs import frozen

from .conftest import (
    MCP,
    SEARCH,
    TIMEOUT,
    Client,
    Installation,
    Response,
    Server,
    entry_line,
    until,
)
from .test_metrics import metric

pytestmark = pytest.mark.process

SETTINGS = (
    *("--set", "metrics.listen=tcp:0:interface=127.0.0.1"),
    # No heartbeat while a test waits for an event of a stream.
    *("--set", f"streams.heartbeat={10 * TIMEOUT}"),
)


@frozen
class Fleet:
    """Processes that share a port, and a client whose requests reach any of them."""

    installation: Installation
    processes: list[Server]

    @property
    def any(self) -> Client:
        return Client(self.processes[0].port)

    def from_both(self, event: str, request: Callable[[], Response | None]) -> list[Response]:
        """Send requests until each of two processes has returned a response that is not None; return these two."""
        found: dict[str, Response] = {}

        def both_responded() -> bool:
            response = request()
            if response is not None:
                found[process_of(response)] = response
            return len(found) == 2

        until(both_responded, event)
        return list(found.values())


def process_of(response: Response | HTTPResponse) -> str:
    """Return the first part of the request id, which differs between processes."""
    return str(response.headers["X-Request-Id"]).partition("-")[0]


@contextmanager
def additional_process(installation: Installation, first: Client, *options: object) -> Iterator[Server]:
    """Run one more process on the port of `first`."""
    listen = f"tcp:{first.port}:interface=127.0.0.1"
    with installation.serve("--reuse-port", *options, listen=listen) as server:
        yield server


@contextmanager
def serving(installation: Installation) -> Iterator[Fleet]:
    with (
        installation.serve("--reuse-port", *SETTINGS) as first,
        additional_process(installation, first, *SETTINGS) as second,
    ):
        yield Fleet(installation, [first, second])


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """Return two processes that all tests of the module share."""
    with serving(Installation(tmp_path_factory.mktemp("fleet"))) as fleet:
        yield fleet
        for each in fleet.processes:
            each.stop()


def test_quota_is_exact_across_processes(fleet: Fleet) -> None:
    key = fleet.installation.new_key()
    with ThreadPoolExecutor(16) as pool:
        responses = list(pool.map(lambda _: fleet.any.search("a", key), range(60)))
    assert sorted(each.status for each in responses) == [200] * 20 + [401] * 40
    assert len({process_of(each) for each in responses}) == 2
    remaining = sorted(int(each.headers["X-RateLimit-Remaining"]) for each in responses if each.status == 200)
    assert remaining == list(range(20))
    for rejected in fleet.from_both("a rejection by each", lambda: fleet.any.search("a", key)):
        assert rejected.json["error"] == "rate_limited"


def test_imported_entry_is_found_by_all_processes(fleet: Fleet) -> None:
    key = fleet.installation.new_key("--limit", "unlimited")
    fleet.installation.command("import", "-", stdin=entry_line("a.example/music", "Play the xylophone."))

    def found() -> Response | None:
        response = fleet.any.search("xylophone", key)
        return response if response.json["count"] else None

    fleet.from_both("the new entry", found)


def test_revoked_key_and_its_streams_end_in_all_processes(fleet: Fleet) -> None:
    key = fleet.installation.new_key()
    key_id = fleet.installation.key_ids()[-1]
    with ExitStack() as streams:
        opened: dict[str, HTTPResponse] = {}
        while len(opened) < 2:
            stream = streams.enter_context(fleet.any.open_stream(key))
            if process_of(stream) in opened:
                # A key has a limited number of streams.
                stream.close()
            else:
                opened[process_of(stream)] = stream
        fleet.installation.command("key", "revoke", key_id)
        for rejected in fleet.from_both("a rejection by each", lambda: fleet.any.search("a", key)):
            assert rejected.json["error"] == "unauthorized"
        for stream in opened.values():
            assert stream.read() == b"retry: 3000\n\n"


def test_session_is_valid_in_all_processes(fleet: Fleet) -> None:
    key = fleet.installation.new_key()
    params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    initialized = fleet.any.request(MCP, key, {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
    session = {"Mcp-Session-Id": initialized.headers["Mcp-Session-Id"]}
    list_tools = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    for response in fleet.from_both("a response by each", lambda: fleet.any.request(MCP, key, list_tools, **session)):
        assert response.status == 200
    other = fleet.installation.new_key()
    for response in fleet.from_both(
        "a rejection by each", lambda: fleet.any.request(MCP, other, list_tools, **session)
    ):
        assert response.status == 404


def test_each_process_has_its_own_metrics(fleet: Fleet) -> None:
    key = fleet.installation.new_key("--limit", "unlimited")
    counter = f'directory_requests_total{{api="{SEARCH}",method="GET",status="200"}}'

    def counts() -> list[float]:
        return [metric(each.metrics_text(), counter) for each in fleet.processes]

    fleet.from_both("a response by each", lambda: fleet.any.search("a", key))
    before = counts()
    processes = [process_of(fleet.any.search("a", key)) for _ in range(30)]
    grown = [now - then for now, then in zip(counts(), before, strict=True)]
    assert sorted(grown) == sorted(float(processes.count(each)) for each in set(processes))


def test_other_processes_serve_after_one_is_killed(fleet: Fleet) -> None:
    key = fleet.installation.new_key()
    with additional_process(fleet.installation, fleet.any) as third:
        assert fleet.any.search("a", key).status == 200
        third.process.kill()
        third.process.wait()
        assert [fleet.any.search("a", key).status for _ in range(20)] == [200] * 19 + [401]


def test_process_that_joins_and_leaves_under_load_loses_no_request(fleet: Fleet) -> None:
    over, responses = Event(), Counter[str]()

    def send_requests(*, persistent: bool) -> None:
        connection = HTTPConnection("127.0.0.1", fleet.any.port, timeout=TIMEOUT)
        while not over.wait(0.01):
            # As HTTP clients do: an idle connection that the server has closed is not used again.
            if connection.sock and select([connection.sock], [], [], 0)[0]:
                connection.close()
            connection.request("GET", "/healthz", headers={} if persistent else {"Connection": "close"})
            # After a response with "Connection: close", http.client opens a new connection.
            with connection.getresponse() as response:
                assert response.status == 200
                responses[process_of(response)] += 1
        connection.close()

    with ThreadPoolExecutor(6) as pool:
        workers = [pool.submit(send_requests, persistent=persistent) for persistent in (False, True) * 3]
        try:
            with additional_process(fleet.installation, fleet.any) as third:
                until(lambda: len(responses) == 3, "a response by each")
                third.stop()
        finally:
            over.set()
        for each in workers:
            each.result()
