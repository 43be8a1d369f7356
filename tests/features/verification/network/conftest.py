"""Fixture: checks of remotes, and fake remotes at a loopback address."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import pytest
import pytest_twisted  # type: ignore[import-untyped]
from attrs import define
from twisted.internet.task import Clock, deferLater

from directory_server.features.verification.network import RemoteProber, checkers
from directory_server.features.verification.results import RemoteCheck
from directory_server.runtime.run_sync import inline
from tests.features.verification.remotes.fake_remotes import FakeRemotes

NOW = 1_800_000_000.0


@define(eq=False)
class Harness:
    """Fake remotes, and checks of them whose time is `clock`; connections use the reactor."""

    remotes: FakeRemotes
    origin: str
    clock: Clock
    prober: RemoteProber

    async def check(self, kind: str, transport: str = "streamable-http", headers_needed: bool = False) -> RemoteCheck:
        """Return the check of the fake remote `kind`."""
        return await self.prober.check(f"{self.origin}/{kind}", transport, headers_needed)

    async def requested(self, path: str, times: int) -> None:
        """Wait until `path` was requested so many times."""
        from twisted.internet import reactor

        while sum(each == path for _, each, _ in self.remotes.requests) < times:
            await deferLater(cast(Any, reactor), 0.001)

    def paths(self, *without: str) -> list[str]:
        """Return the methods and paths of the requests, without those of paths in `without`."""
        return [f"{method} {path}" for method, path, _ in self.remotes.requests if path not in without]


@pytest.fixture
def harness() -> Iterator[Harness]:
    from twisted.internet import reactor as global_reactor
    from twisted.web.server import Site

    reactor: Any = global_reactor
    remotes, clock = FakeRemotes(), Clock()
    site = Site(remotes)
    port = reactor.listenTCP(0, site, interface="127.0.0.1")
    checks = checkers(reactor, lambda: NOW, inline, inline, ["127.0.0.0/8"], clock=clock, contact="ops@acme.example")
    origin = f"http://127.0.0.1:{port.getHost().port}"
    yield Harness(remotes, origin, clock, checks.remotes)
    pytest_twisted.blockon(port.stopListening())
