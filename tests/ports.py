"""Ports for programs that cannot choose one themselves, such as proxies."""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from pathlib import Path
from random import SystemRandom
from socket import create_server

_RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")
_HIGHEST = 65_535
_LOWEST = 10_000


def free_port() -> int:
    """Return a port on which nothing listens at 127.0.0.1.

    The kernel gives its ephemeral ports to all sockets without a port, such as those of clients. One of these could
    take the port before the program listens, so it is none of them (ip(7), ip_local_port_range).
    """
    candidates = _candidates()
    while True:
        # No port is returned twice. Without candidates, the kernel chooses.
        with suppress(OSError), create_server(("127.0.0.1", candidates.pop() if candidates else 0)) as found:
            return int(found.getsockname()[1])


@cache
def _candidates() -> list[int]:
    first, last = map(int, _RANGE.read_text().split()) if _RANGE.exists() else (49_152, _HIGHEST)
    ports = [*range(_LOWEST, first), *range(last + 1, _HIGHEST + 1)]
    # Workers of pytest may seed `random` alike.
    SystemRandom().shuffle(ports)
    return ports
