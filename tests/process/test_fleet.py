"""Several processes on one data directory and one port: to their clients they are one server."""

from __future__ import annotations

import ssl
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection, HTTPResponse, HTTPSConnection
from threading import Event

import pytest
from attrs import frozen

from ._certificates import certificate
from .conftest import (
    FOREGROUND,
    MCP,
    SEARCH,
    TIMEOUT,
    Client,
    Installation,
    Response,
    Server,
    entry_line,
    run_twistd,
    until,
)
from .test_beside import AT_ONCE
from .test_metrics import value

pytestmark = pytest.mark.process

METRICS = ("--set", "metrics.listen=tcp:0:interface=127.0.0.1")


@frozen
class Fleet:
    """Processes that share a port, and a client that any of them answers."""

    installation: Installation
    processes: list[Server]

    @property
    def any(self) -> Client:
        return Client(self.processes[0].port)

    def both(self, what: str, ask: Callable[[], Response | None]) -> list[Response]:
        """Ask until each of two processes has given an answer that is not None; return these answers."""
        found: dict[str, Response] = {}

        def asked() -> bool:
            answer = ask()
            if answer is not None:
                found[process_of(answer)] = answer
            return len(found) == 2

        until(asked, what, AT_ONCE)
        return list(found.values())


def process_of(answer: Response | HTTPResponse) -> str:
    """Return what the ids of requests begin with, which tells one process from another."""
    return str(answer.headers["X-Request-Id"]).partition("-")[0]


@contextmanager
def another(installation: Installation, beside: Client, *options: object) -> Iterator[Server]:
    """Run one more process on the port of the one that it is `beside`."""
    listen = f"tcp:{beside.port}:interface=127.0.0.1"
    with installation.serve("--reuse-port", *options, listen=listen) as server:
        yield server


@contextmanager
def serving(installation: Installation) -> Iterator[Fleet]:
    with (
        installation.serve("--reuse-port", *METRICS) as first,
        another(installation, first, *METRICS) as second,
    ):
        yield Fleet(installation, [first, second])


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """Return two processes that run for the whole module."""
    with serving(Installation(tmp_path_factory.mktemp("fleet"))) as fleet:
        yield fleet
        for each in fleet.processes:
            assert "Traceback" not in each.stop()


def test_the_quota_is_exact_whoever_answers(fleet: Fleet) -> None:
    key = fleet.installation.new_key()
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda _: fleet.any.search("a", key), range(60)))
    assert sorted(each.status for each in answers) == [200] * 20 + [401] * 40
    assert len({process_of(each) for each in answers}) == 2
    spent = sorted(int(each.headers["X-RateLimit-Remaining"]) for each in answers if each.status == 200)
    assert spent == list(range(20))
    for refused in fleet.both("a refusal by each", lambda: fleet.any.search("a", key)):
        assert refused.json["error"] == "rate_limited"


def test_an_import_is_found_in_each(fleet: Fleet) -> None:
    key = fleet.installation.new_key("--limit", "unlimited")
    fleet.installation.command("import", "-", stdin=entry_line("a.example/music", "Play the xylophone."))

    def found() -> Response | None:
        answer = fleet.any.search("xylophone", key)
        return answer if answer.json["count"] else None

    fleet.both("the new entry", found)


def test_a_revoked_key_and_its_streams_end_in_each(fleet: Fleet) -> None:
    key = fleet.installation.new_key()
    key_id = fleet.installation.key_ids()[-1]
    with ExitStack() as streams:
        opened: dict[str, HTTPResponse] = {}
        while len(opened) < 2:
            stream = streams.enter_context(fleet.any.open_stream(key))
            opened[process_of(stream)] = stream
        fleet.installation.command("key", "revoke", key_id)
        for refused in fleet.both("a refusal by each", lambda: fleet.any.search("a", key)):
            assert refused.json["error"] == "unauthorized"
        for stream in opened.values():
            assert stream.read() == b"retry: 3000\n\n"


def test_a_session_is_known_to_each(fleet: Fleet) -> None:
    key = fleet.installation.new_key()
    about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    begun = fleet.any.request(MCP, key, {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": about})
    session = {"Mcp-Session-Id": begun.headers["Mcp-Session-Id"]}
    listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    for answer in fleet.both("an answer by each", lambda: fleet.any.request(MCP, key, listing, **session)):
        assert answer.status == 200
    other = fleet.installation.new_key()
    for answer in fleet.both("a refusal by each", lambda: fleet.any.request(MCP, other, listing, **session)):
        assert answer.status == 404


def test_each_counts_for_itself(fleet: Fleet) -> None:
    key = fleet.installation.new_key("--limit", "unlimited")
    counter = f'directory_requests_total{{api="{SEARCH}",method="GET",status="200"}}'

    def counted() -> list[float]:
        return [value(each.metrics_text(), counter) for each in fleet.processes]

    fleet.both("an answer by each", lambda: fleet.any.search("a", key))
    before = counted()
    answered = [process_of(fleet.any.search("a", key)) for _ in range(30)]
    grown = [now - then for now, then in zip(counted(), before, strict=True)]
    assert sorted(grown) == sorted(float(answered.count(each)) for each in set(answered))


def test_when_one_is_killed_the_others_go_on(fleet: Fleet) -> None:
    key = fleet.installation.new_key()
    with another(fleet.installation, fleet.any) as third:
        assert fleet.any.search("a", key).status == 200
        third.process.kill()
        third.process.wait()
        assert [fleet.any.search("a", key).status for _ in range(20)] == [200] * 19 + [401]


def test_a_process_may_be_replaced_under_load_and_nobody_notices(fleet: Fleet) -> None:
    over, answered = Event(), Counter[str]()

    def ask(*, kept: bool) -> None:
        connection = HTTPConnection("127.0.0.1", fleet.any.port, timeout=TIMEOUT)
        while not over.wait(0.01):
            connection.request("GET", "/healthz", headers={} if kept else {"Connection": "close"})
            # After the server's last answer on a connection, http.client opens another.
            with connection.getresponse() as response:
                assert response.status == 200
                answered[process_of(response)] += 1
        connection.close()

    with ThreadPoolExecutor(6) as pool:
        asking = [pool.submit(ask, kept=kept) for kept in (False, True) * 3]
        try:
            with another(fleet.installation, fleet.any) as third:
                until(lambda: len(answered) == 3, "an answer by each")
                third.stop()
        finally:
            over.set()
        for each in asking:
            each.result()


def test_who_does_not_share_has_a_port_alone(fleet: Fleet) -> None:
    listen = f"tcp:{fleet.any.port}:interface=127.0.0.1"
    done = run_twistd(*FOREGROUND, "directory", "-d", "alone", "-l", listen, cwd=fleet.installation.folder)
    assert done.returncode == 1
    assert f"Cannot listen on 127.0.0.1:{fleet.any.port}: [Errno" in done.stdout.splitlines()[-1]


@pytest.mark.parametrize("kind", ["ssl:{port}:privateKey={pem}", "tls:{folder}:{port}"])
def test_tls_is_shared_too(installation: Installation, kind: str) -> None:
    pytest.importorskip("OpenSSL")
    folder = installation.folder / "certificates"
    folder.mkdir()
    pem = certificate(folder)
    context = ssl.create_default_context(cafile=str(pem))

    def listen(port: int) -> str:
        return kind.format(port=port, pem=pem, folder=folder) + ":interface=127.0.0.1"

    def ask(port: int) -> str:
        connection = HTTPSConnection("localhost", port, timeout=10, context=context)
        connection.request("GET", "/healthz")
        answer = connection.getresponse()
        assert answer.status == 200
        return process_of(answer)

    with installation.serve("--reuse-port", listen=listen(0)) as first:
        with installation.serve("--reuse-port", listen=listen(first.port)) as second:
            seen: set[str] = set()
            while len(seen) < 2:
                seen.add(ask(first.port))
            assert "Traceback" not in second.stop()
        assert ask(first.port) in seen
        assert "Traceback" not in first.stop()
