"""The network side of verification."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import threads
from ..config import Config
from ..services.checks import Checkers

LOOKUPS = 4
"""Threads that look up names. A look-up may block its thread for half a minute."""


def network_checkers(config: Config, reactor: Any, now: Callable[[], float]) -> Checkers:
    """Return what checks remotes and packages over the network. `now` returns seconds since the epoch."""
    # The HTTP client takes 3 MB and .1 seconds.
    from .. import verification

    offload = threads.Offload(reactor)
    # They are daemons and are not stopped, so that a look-up does not delay the end of the process.
    lookup = threads.OwnThreads(reactor, most=LOOKUPS, waiting=1_000)
    contact = config.verify.contact or config.web.url
    allowed = config.verify.allowed_networks
    return Checkers(
        verification.remote_prober(reactor, now, offload, contact=contact, allowed_networks=allowed, lookup=lookup),
        verification.package_checker(reactor, now, offload, contact=contact, allowed_networks=allowed, lookup=lookup),
    )
