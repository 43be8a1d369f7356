"""Limit the memory that a slow reader takes in the kernel and the transport."""

from __future__ import annotations

import socket
from contextlib import suppress
from typing import Any

from ..http.transports import unwrapped

SEND_BUFFER = 16 * 1024
"""Bytes of the kernel's send buffer. Linux doubles the value for its own bookkeeping (socket(7))."""

UNSENT = 512
"""Bytes in the transport from which on the reader counts as slow."""


_TCP = (int(socket.AF_INET), int(socket.AF_INET6))


def limit_buffers(transport: Any, stall: float) -> None:
    """Limit the buffers of a TCP connection, and abort it when its client acknowledges nothing for `stall` seconds."""
    transport = unwrapped(transport)
    handle = transport.getHandle() if hasattr(transport, "getHandle") else None
    # The attribute of socket.socket converts the number to an enumeration, which takes longer than setting an option.
    if not isinstance(handle, socket.socket) or super(socket.socket, handle).family not in _TCP:
        return
    transport.bufferSize = UNSENT
    # A connection that has been reset may have no options left.
    with suppress(OSError):
        handle.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
        if hasattr(socket, "TCP_USER_TIMEOUT"):  # on Linux; tcp(7)
            handle.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(stall * 1000))
