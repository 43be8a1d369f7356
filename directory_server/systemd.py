"""What systemd is told of a service of `Type=notify`."""

from __future__ import annotations

from collections.abc import Mapping
from socket import AF_UNIX, SOCK_DGRAM, socket


def ready(environ: Mapping[str, str]) -> None:
    """Say that the service has started, where `environ` names somebody who waits for that (sd_notify(3))."""
    address = environ.get("NOTIFY_SOCKET")
    if address:
        with socket(AF_UNIX, SOCK_DGRAM) as notifying:
            # An address that begins with @ is one of Linux's abstract namespace.
            notifying.sendto(b"READY=1", address.replace("@", "\0", 1) if address[0] == "@" else address)
