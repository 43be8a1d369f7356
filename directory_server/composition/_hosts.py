"""The hosts that requests may name where no setting says so."""

from __future__ import annotations

from collections.abc import Sequence

from .. import hosts
from ..config import Config, endpoints

_LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "[::1]"})


def loopback_hosts(config: Config, listen: Sequence[str]) -> frozenset[str]:
    """Return the hosts that requests name if all endpoints in `listen` are on loopback; otherwise an empty set."""
    read = [*map(endpoints.read, listen)]
    if not all(endpoint.is_loopback for endpoint in read):
        return frozenset()
    names = _LOOPBACK_NAMES.union(endpoint.host for endpoint in read)
    # DNS rebinding: a page in a browser must not reach a private server by a name that it resolves to loopback. The
    # name in web.url is not under control of others, and a proxy on this machine passes it on.
    try:
        return names | {hosts.of(config.web.url).name}
    except ValueError:
        # It is not set, or is no name that a client sends.
        return names
