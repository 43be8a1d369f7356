"""Checks of what entries name: remotes by an MCP handshake, packages by the APIs of their registries."""

from ._build import package_checker, remote_prober
from ._checkers import network_checkers
from ._packages import PackageChecker
from ._prober import RemoteProber
