"""Clocks, threads and randomness of the application."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from random import Random
from typing import Any

from attrs import field, frozen

from .. import threads
from ..domain.accounts import Account
from ..domain.ports.accounts import Passwords
from ..http.proxies import network_of
from ..machine import anchored, machine_time
from ..passwords import Argon2Passwords
from ..storage import Environment
from ..turn import ReactorTurn
from ..web.pages import STREAMS

FindViewer = Callable[[Any], Awaitable[Account | None]]
"""Returns the account that is signed in and sent the request, None if there is none."""


@frozen(kw_only=True)
class Runtime(Environment):
    """The part of the environment that tests replace: what storage uses of it, and the rest."""

    passwords: Passwords
    new_random: Callable[[], Random] = Random
    wrap_viewer: Callable[[FindViewer], FindViewer] = lambda find: find
    page_streams: int = STREAMS
    """Open page streams per address."""
    replaced: Mapping[str, Any] = field(factory=dict)
    """The parts of features that tests replace, by name."""
    stop: Callable[[], None] = lambda: None
    """Ends the threads of `account_writes`."""


def _provider_of(network: str) -> str:
    """Return the provider's part of a client's network: a /32 of IPv6, the network itself for IPv4.

    One customer may get many /48 (RFC 6177), and a provider has a /32 or more.
    """
    return network_of(network.partition("/")[0], ipv6_prefix=32, ipv4_prefix=24)


def machine_runtime(reactor: Any) -> Runtime:
    """Return the runtime of a server process: the machine's clocks, and threads."""
    offload = threads.Offload(reactor)
    # These writes may wait for a lock or a disk. With threads of their own, they block no thread of the reactor's pool.
    writes = threads.OwnThreads(reactor, most=2, waiting=100)
    now = anchored(time.time, time.monotonic)
    return Runtime(
        reactor=reactor,
        now=now,
        wall=time.time,
        monotonic=time.monotonic,
        machine_time=machine_time(),
        offload=offload,
        account_writes=writes,
        passwords=Argon2Passwords(offload, reactor, _provider_of),
        turn=ReactorTurn(reactor),
        stop=writes.stop,
    )
