"""Lost notifications, stopped backends, and a machine whose network is down (in a network namespace of its own)."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from http.client import HTTPResponse
from pathlib import Path

import psycopg
import pytest

from directory_server.runtime.run_sync import run_sync

from ..engines import Engine
from ..process.conftest import FOREGROUND, LISTEN, SEARCH, TIMEOUT, Server, entry_line, environment, run_server, until
from ..process.test_unix_socket import UnixConnection
from ._machines import DETECTION, IS_QUIET, RECOVERY, running_machines
from ._network import Network
from ._workload import storage
from .conftest import Cluster

pytestmark = pytest.mark.process

FEED = "/api/open/v1/changes"

PROMISE = 1.0 if IS_QUIET else TIMEOUT
"""Seconds after which no server accepts a revoked key."""

_BACKENDS = "SELECT pid FROM pg_stat_activity WHERE application_name = 'directory-server'"


def accepted_for(server: Server, engine: Engine, disturb: Callable[[], object] = lambda: None) -> float:
    """Revoke a key, after `disturb`; return the seconds for which `server`, which has it in its cache, accepts it."""
    with storage(engine.conninfo) as opened:
        key, secret = run_sync(opened.people.keys.create("revoked", limit=None, expires_at=None))
        assert server.search("rain", secret).status == 200
        disturb()
        assert server.search("rain", secret).status == 200
        run_sync(opened.people.keys.revoke(key.id))
    revoked = last = time.monotonic()
    while (sent := time.monotonic()) < revoked + 3 * PROMISE:
        status = server.search("rain", secret).status
        if status == 200:
            last = sent
        elif status == 401:
            break
    return last - revoked


def read_until(stream: HTTPResponse, text: bytes) -> None:
    """Read a stream up to the line that contains `text`."""
    line = b""
    while text not in line:
        line = stream.readline()
        assert line, "the stream ended"


def test_without_notifications_changes_and_revocations_arrive_in_time(tmp_path: Path, engine: Engine) -> None:
    engine.renew()
    with running_machines(engine, tmp_path, 1) as machines:
        key = machines.cluster.new_key("--limit", "unlimited")
        (server,), (network,) = machines.servers, machines.networks
        network.loses_notifications = True
        stream = server.open(FEED, key, Accept="text/event-stream")
        machines.cluster.command("import", "-", stdin=entry_line("a.example/rain", "It rains."))
        read_until(stream, b"a.example/rain")
        stream.close()
        took = max(accepted_for(server, machines.engine) for _ in range(5))
        assert took < PROMISE
        assert network.lost_notifications > 0
        print(f"lost notifications: a revoked key is accepted for {took:.2f} s at most")
        # Backends that stop leave their sockets open, and answer nothing.
        with psycopg.connect(machines.engine.conninfo, autocommit=True) as connection:
            backends = [pid for (pid,) in connection.execute(_BACKENDS)]

        def stop_backends() -> None:
            for pid in backends:
                os.kill(pid, signal.SIGSTOP)

        took = accepted_for(server, machines.engine, stop_backends)
        assert len(backends) > 0
        assert took < PROMISE
        print(f"stopped backends: a revoked key is accepted for {took:.2f} s")
        until(lambda: server.search("rain", key).status == 200, "new connections", RECOVERY)
        for pid in backends:
            os.kill(pid, signal.SIGCONT)
        machines.stop_all()


class Namespace:
    """A network namespace whose only way out is a pair of interfaces."""

    def __init__(self, number: int) -> None:
        self.name, self._outer, self._inner = f"ds-{number}", f"ds{number}o", f"ds{number}i"
        self.address, inside = f"10.231.{number % 250}.1", f"10.231.{number % 250}.2"
        self._ip("netns", "add", self.name)
        self._ip("link", "add", self._outer, "type", "veth", "peer", "name", self._inner, "netns", self.name)
        self._ip("address", "add", f"{self.address}/30", "dev", self._outer)
        self._ip("link", "set", self._outer, "up")
        for words in (["address", "add", f"{inside}/30", "dev", self._inner], ["link", "set", self._inner, "up"]):
            self._ip("-netns", self.name, *words)
        self._ip("-netns", self.name, "link", "set", "lo", "up")

    def set_up(self, is_up: bool) -> None:
        """Connect or disconnect the namespace; packets are lost meanwhile, and no connection ends."""
        self._ip("link", "set", self._outer, "up" if is_up else "down")

    def close(self) -> None:
        subprocess.run(["ip", "netns", "delete", self.name], check=True)

    def _ip(self, *words: str) -> None:
        subprocess.run(["ip", *words], check=True, capture_output=True)


@pytest.fixture
def namespace() -> Iterator[Namespace]:
    """Return a network namespace; skip the test if none can be made."""
    if shutil.which("ip") is None:
        pytest.skip("network namespaces need iproute2")
    try:
        namespace = Namespace(os.getpid() % 100_000)
    except subprocess.CalledProcessError as error:
        pytest.skip(f"network namespaces need root: {error.stderr.decode().strip()}")
    yield namespace
    namespace.close()


def test_a_machine_without_network_serves_what_it_has_and_continues_later(
    cluster: Cluster, namespace: Namespace
) -> None:
    folder = cluster.folder
    network = Network(cluster.engine.folder, namespace.address)
    path = folder / "http.sock"
    key = cluster.new_key("--limit", "unlimited")
    headers = {"Authorization": f"Bearer {key}", "Accept": "text/event-stream"}

    def open_path(target: str) -> HTTPResponse:
        # The socket of another namespace is a file here.
        connection = UnixConnection(path)
        connection.request("GET", target, headers=headers | ({} if target == FEED else {"Accept": "*/*"}))
        return connection.getresponse()

    def status(target: str = f"{SEARCH}?keywords=rain") -> int:
        with open_path(target) as response:
            response.read()
            return response.status

    def database() -> str:
        with open_path("/healthz") as response:
            return str(json.loads(response.read())["database"])

    arguments = [*FOREGROUND, "directory", "-l", LISTEN, "-l", f"unix:{path}", "--set", f"streams.heartbeat={TIMEOUT}"]
    variables = environment(DIRECTORY_SERVER_DATABASE=network.conninfo)
    inside = ["ip", "netns", "exec", namespace.name]
    try:
        with run_server(arguments, folder, variables, within=inside) as server, cluster.serve("two") as other:
            assert status() == 200
            stream = open_path(FEED)
            namespace.set_up(False)
            began = time.monotonic()
            until(lambda: status() == 503, "requests with a key are rejected", DETECTION)
            rejected = time.monotonic() - began
            until(lambda: database() == "away", "the outage is reported", DETECTION)
            until(lambda: (status("/readyz"), status("/healthz")) == (200, 200), "readiness")
            assert other.search("rain", key).status == 200
            cluster.command("import", "-", stdin=entry_line("a.example/rain", "It rains."))
            until(lambda: other.entry_count() == 1, "the entry on the other machine")
            namespace.set_up(True)
            began = time.monotonic()
            until(lambda: status() == 200, "requests with a key are served", 2 * RECOVERY)
            served = time.monotonic() - began
            # The stream was open all the time.
            read_until(stream, b"a.example/rain")
            stream.close()
            until(lambda: database() == "available", "the outage is over", RECOVERY)
            print(f"no network: 503 after {rejected:.2f} s, served again after {served:.2f} s")
            log = server.stop()
    finally:
        network.close()
    assert "Database unavailable: it does not respond (no answer for 2 seconds)" in log
    assert "Database available again" in log
