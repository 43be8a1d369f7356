"""Checks of packages with the APIs of their registries."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from attrs import frozen
from twisted.internet.defer import Deferred

from ..domain.verification import PackageCheck, PackageStatus

Source = Callable[..., Deferred[PackageCheck]]


@frozen(eq=False)
class PackageChecker:
    """Checks packages. `now` returns seconds since the epoch."""

    _sources: Mapping[str, Any]
    _now: Callable[[], float]

    async def check(self, registry_type: str, identifier: str, version: str, server_name: str) -> PackageCheck:
        """Return what the registry of type `registry_type` says about the package `identifier` and its version.

        `server_name` is the name of the entry, which the package should name. It raises nothing for what a registry
        does.
        """
        detail = "Packages of this kind are not checked."
        return PackageCheck(registry_type, identifier, version, self._now(), PackageStatus.NOT_CHECKABLE, detail=detail)
