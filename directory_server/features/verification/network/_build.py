"""Creation of the checks from settings: contact, allowed networks and timeouts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from .... import __version__
from ....domain.ports.runtime import Offload
from ....http_client import CertificatePolicy, CheckedNetwork, networks
from ._client import Network
from ._packages import PackageChecker
from ._prober import RemoteProber
from ._robots import Robots

TIMEOUT = 30.0
"""Timeout of a check in seconds."""

CONNECT_TIMEOUT = 10.0
"""Timeout of a connection attempt in seconds."""


def remote_prober(
    reactor: Any,
    now: Callable[[], float],
    offload: Offload,
    *,
    contact: str = "",
    allowed_networks: Iterable[str] = (),
    timeout: float = TIMEOUT,
    connect_timeout: float = CONNECT_TIMEOUT,
    lookup: Offload | None = None,
    clock: Any = None,
) -> RemoteProber:
    """Return the checks of remotes.

    `now` returns seconds since the epoch. `contact` is a URL or mail address for the user agent, `allowed_networks` are
    networks in CIDR notation that are not public and allowed all the same. `timeout` is the seconds of a whole check,
    `connect_timeout` of a connection. `lookup` runs the look-ups of names, which may take as long as the system's
    resolver allows; without it `offload` does. `clock` measures the times, the reactor if it is None. Raises
    ValueError for an invalid contact or network.
    """
    network = _network(reactor, lookup or offload, contact, allowed_networks, connect_timeout)
    time = clock or reactor
    return RemoteProber(network, Robots(time, now, offload), offload, time, now, timeout)


def package_checker(
    reactor: Any,
    now: Callable[[], float],
    offload: Offload,
    *,
    contact: str = "",
    allowed_networks: Iterable[str] = (),
    timeout: float = TIMEOUT,
    connect_timeout: float = CONNECT_TIMEOUT,
    lookup: Offload | None = None,
    clock: Any = None,
) -> PackageChecker:
    """Return the checks of packages. The arguments are those of `remote_prober`."""
    network = _network(reactor, lookup or offload, contact, allowed_networks, connect_timeout)
    return PackageChecker(network, offload, clock or reactor, now, timeout)


def user_agent(contact: str) -> str:
    """Return the user agent of checks. Raises ValueError if `contact` is no printable ASCII or has brackets."""
    if not contact.isascii() or (contact and not contact.isprintable()) or set(contact) & set("()<>\\"):
        raise ValueError("The contact must be printable ASCII without brackets and backslashes.")
    return f"directory-server/{__version__} (verification{f'; +{contact}' if contact else ''})"


def _network(reactor: Any, lookup: Offload, contact: str, allowed: Iterable[str], connect_timeout: float) -> Network:
    agent = user_agent(contact)
    return Network(CheckedNetwork(reactor, CertificatePolicy(), networks(allowed), lookup, connect_timeout), agent)
