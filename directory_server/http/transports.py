"""Twisted's transports below the protocols that wrap them."""

from __future__ import annotations

from typing import Any

from twisted.protocols.policies import ProtocolWrapper


def unwrapped(transport: Any) -> Any:
    """Return the transport of the socket, below those of TLS and of the PROXY protocol."""
    while isinstance(transport, ProtocolWrapper):
        transport = transport.transport
    return transport
