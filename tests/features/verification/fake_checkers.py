"""Fakes of the network side of verification: the test decides what each remote and package answers, and when."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from attrs import define, field
from twisted.internet.defer import Deferred

from directory_server.domain.checks import PackageStatus, RemoteStatus
from directory_server.features.verification.network import Checkers
from directory_server.features.verification.results import PackageCheck, RemoteCheck


@define
class FakeProber:
    """Answers `results` by URL, else a check that works. With `is_slow`, the test ends each check with `finish`."""

    now: Callable[[], float]
    results: dict[str, RemoteCheck] = field(factory=dict)
    is_slow: bool = False
    error: Exception | None = None
    checked: list[str] = field(factory=list)
    waiting: dict[str, Deferred[None]] = field(factory=dict)
    cancelled: list[str] = field(factory=list)

    async def check(self, url: str, transport: str, headers_needed: bool) -> RemoteCheck:
        self.checked.append(url)
        if self.error is not None:
            raise self.error
        if self.is_slow:
            waiting: Deferred[None] = Deferred(lambda _: self.cancelled.append(url))
            self.waiting[url] = waiting
            await waiting
        return self.results.get(url) or RemoteCheck(url, transport, self.now(), RemoteStatus.WORKS)

    def finish(self, url: str) -> None:
        """End the check of `url`."""
        self.waiting.pop(url).callback(None)


@define
class FakePackages:
    """Answers `results` by identifier, else that the package exists or has the status in `statuses`."""

    now: Callable[[], float]
    statuses: Mapping[str, PackageStatus] = field(factory=dict)
    results: dict[str, PackageCheck] = field(factory=dict)
    checked: list[str] = field(factory=list)

    async def check(self, registry_type: str, identifier: str, version: str, server_name: str) -> PackageCheck:
        self.checked.append(identifier)
        status = self.statuses.get(identifier, PackageStatus.EXISTS)
        usual = PackageCheck(registry_type, identifier, version, self.now(), status)
        return self.results.get(identifier, usual)


@define
class FakeCheckers:
    """Both fakes."""

    remotes: FakeProber
    packages: FakePackages

    @classmethod
    def of(cls, now: Callable[[], float]) -> FakeCheckers:
        """Return fakes with the clock `now`."""
        return cls(FakeProber(now), FakePackages(now))

    def checkers(self) -> Checkers:
        """Return the fakes as the server expects them."""
        return Checkers(cast(Any, self.remotes), cast(Any, self.packages))
