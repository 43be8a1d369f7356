"""The network side of verification, created from settings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .... import threads
from ....config import Config
from ..checks import Checkers
from ..settings import VerifyConfig
from ._build import package_checker, remote_prober

LOOKUPS = 4
"""Threads that look up names. A look-up may block its thread for half a minute."""


def network_checkers(config: Config, reactor: Any, now: Callable[[], float]) -> Checkers:
    """Return what checks remotes and packages over the network. `now` returns seconds since the epoch."""
    settings = config.of(VerifyConfig)
    offload = threads.Offload(reactor)
    # They are daemons and are not stopped, so that a look-up does not delay the end of the process.
    lookup = threads.OwnThreads(reactor, most=LOOKUPS, waiting=1_000)
    contact = settings.contact or config.web.url
    allowed = settings.allowed_networks
    return Checkers(
        remote_prober(reactor, now, offload, contact=contact, allowed_networks=allowed, lookup=lookup),
        package_checker(reactor, now, offload, contact=contact, allowed_networks=allowed, lookup=lookup),
    )
