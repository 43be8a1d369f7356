"""Servers on one database, each with a network of its own, as on machines of their own."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from attrs import define, field

from ..engines import Engine
from ..process.conftest import TIMEOUT, Server, until
from ._network import Network
from .conftest import Cluster

NAMES = "one", "two"

IS_QUIET = os.environ.get("FAULTS") == "all"
"""Whether no other tests run beside: then the times that the documentation promises hold."""

DETECTION = 5.0 if IS_QUIET else TIMEOUT
"""Seconds within which a server must notice that the database has gone."""

RECOVERY = 5.0 if IS_QUIET else TIMEOUT
"""Seconds from the end of a fault within which all servers must admit charges."""


@define
class Machines:
    """Running servers. `networks` lead to the database, one for each server."""

    cluster: Cluster
    networks: Sequence[Network]
    stack: ExitStack
    options: Sequence[object] = ()
    servers: list[Server] = field(factory=list)
    logs: list[Path] = field(factory=list)

    @property
    def engine(self) -> Engine:
        return self.cluster.engine

    def start(self, number: int) -> Server:
        """Start the server of a machine, also after its end."""
        conninfo = self.networks[number].conninfo
        server = self.stack.enter_context(self.cluster.serve(NAMES[number], *self.options, database=conninfo))
        self.logs.append(server.log)
        return server

    def log(self) -> str:
        """Return the logs of all servers, also of those that have ended."""
        return "".join(log.read_text() for log in self.logs)

    def wait_until_away(self, timeout: float = DETECTION) -> None:
        """Wait until all servers report that the database is away; they stay in the load balancer."""
        for server in self.servers:
            until(lambda: health(server) == "away", "the outage is reported", timeout)  # noqa: B023
            assert server.request("/readyz").status == 200

    def wait_until_available(self) -> None:
        """Wait until all servers report that the database is available."""
        until(lambda: all(health(each) == "available" for each in self.servers), "recovery", 3 * RECOVERY)

    def check_logs(self) -> None:
        """Assert that no server has logged a defect."""
        assert "Traceback" not in self.log()
        assert "#critical" not in self.log()

    def stop_all(self) -> None:
        """Stop all servers, and check their logs."""
        for server in self.servers:
            server.stop()
        self.check_logs()


@contextmanager
def running_machines(
    engine: Engine, folder: Path, count: int = len(NAMES), options: Sequence[object] = ()
) -> Iterator[Machines]:
    """Start `count` servers on `engine`, with `options`; they end with the block."""
    with ExitStack() as stack:
        networks = [Network(engine.folder) for _ in range(count)]
        for network in networks:
            stack.callback(network.close)
        machines = Machines(Cluster(engine, folder), networks, stack, options)
        machines.servers += [machines.start(number) for number in range(count)]
        yield machines


def health(server: Server) -> str:
    """Return the state of the database that a server reports."""
    response = server.request("/healthz")
    assert response.status == 200
    return str(response.json["database"])
