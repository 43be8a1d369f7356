"""What a stream asks of the kernel, so that a reader who does not read costs little and not for long."""

from __future__ import annotations

import socket
from contextlib import suppress
from typing import Any

from ..http.transports import unwrapped

SEND_BUFFER = 16 * 1024
"""Bytes that the kernel is asked to keep unsent; Linux takes twice that, for its own records (socket(7))."""

UNSENT = 512
"""Bytes that may wait in the transport before the reader is taken to lag behind."""


def restrain(transport: Any, stall: float) -> None:
    """Bound what the kernel and the transport keep for a reader, and how many seconds it may not read; TCP alone."""
    transport = unwrapped(transport)
    handle = transport.getHandle() if hasattr(transport, "getHandle") else None
    if not isinstance(handle, socket.socket) or handle.family not in (socket.AF_INET, socket.AF_INET6):
        return
    transport.bufferSize = UNSENT
    # A connection that was reset in the meantime may have no options left.
    with suppress(OSError):
        handle.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
        if hasattr(socket, "TCP_USER_TIMEOUT"):  # on Linux; tcp(7)
            handle.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(stall * 1000))
