"""The network side of verification, created from settings: contact, allowed networks and timeouts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from attrs import frozen

from .... import __version__
from ....config import Config
from ....domain.ports.runtime import Offload
from ....http_client import CertificatePolicy, CheckedNetwork, networks
from ....runtime import threads
from ..settings import VerifyConfig
from ._client import Network
from ._packages import PackageChecker
from ._prober import RemoteProber
from ._robots import Robots

TIMEOUT = 30.0
"""Timeout of a check in seconds."""

CONNECT_TIMEOUT = 10.0
"""Timeout of a connection attempt in seconds."""

LOOKUPS = 4
"""Threads that look up names. A look-up may block its thread for half a minute."""


@frozen
class Checkers:
    """Checks of remotes and packages over the network."""

    remotes: RemoteProber
    packages: PackageChecker


def network_checkers(config: Config, reactor: Any, now: Callable[[], float]) -> Checkers:
    """Return what checks remotes and packages over the network. `now` returns seconds since the epoch."""
    settings = config.of(VerifyConfig)
    # They are daemons and are not stopped, so that a look-up does not delay the end of the process.
    lookup = threads.OwnThreads(reactor, limit=LOOKUPS, waiting=1_000)
    contact = settings.contact or config.web.url
    return checkers(reactor, now, threads.Offload(reactor), lookup, settings.allowed_networks, contact=contact)


def checkers(
    reactor: Any,
    now: Callable[[], float],
    offload: Offload,
    lookup: Offload,
    allowed_networks: Iterable[str],
    *,
    contact: str = "",
    clock: Any = None,
) -> Checkers:
    """Return what checks remotes and packages.

    `now` returns seconds since the epoch. `contact` is a URL or mail address for the user agent, `allowed_networks` are
    networks in CIDR notation that are not public and allowed all the same. `lookup` runs the look-ups of names, which
    may take as long as the system's resolver allows. `clock` measures the times, the reactor if it is None. Raises
    ValueError for an invalid contact or network.
    """
    allowed, time = networks(allowed_networks), clock or reactor
    network = Network(
        CheckedNetwork(reactor, CertificatePolicy(), allowed, lookup, CONNECT_TIMEOUT), user_agent(contact)
    )
    return Checkers(
        RemoteProber(network, Robots(time, now, offload), offload, time, now, TIMEOUT),
        PackageChecker(network, offload, time, now, TIMEOUT),
    )


def user_agent(contact: str) -> str:
    """Return the user agent of checks. Raises ValueError if `contact` is no printable ASCII or has brackets."""
    if not contact.isascii() or (contact and not contact.isprintable()) or set(contact) & set("()<>\\"):
        raise ValueError("The contact must be printable ASCII without brackets and backslashes.")
    return f"directory-server/{__version__} (verification{f'; +{contact}' if contact else ''})"
