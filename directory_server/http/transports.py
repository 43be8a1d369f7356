"""The socket transport below wrapping protocols."""

from __future__ import annotations

from typing import Any

from twisted.protocols.policies import ProtocolWrapper


def unwrapped(transport: Any) -> Any:
    """Return the socket transport below the wrappers of TLS and the PROXY protocol."""
    while isinstance(transport, ProtocolWrapper):
        transport = transport.transport
    return transport
