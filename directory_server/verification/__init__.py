"""Checks of what entries name: remotes by an MCP handshake, packages by the APIs of their registries."""

from ._packages import PackageChecker
from ._prober import RemoteProber
from ._probes import package_checker, remote_prober

__all__ = ["PackageChecker", "RemoteProber", "package_checker", "remote_prober"]
