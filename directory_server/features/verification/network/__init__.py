"""Checks of what entries name: remotes by an MCP handshake, packages by the APIs of their registries."""

from ._build import Checkers, checkers, network_checkers
from ._packages import PackageChecker
from ._prober import RemoteProber
