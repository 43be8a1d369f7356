"""Notifications to systemd from a service of `Type=notify`."""

from __future__ import annotations

from collections.abc import Mapping
from socket import AF_UNIX, SOCK_DGRAM, socket


def ready(environ: Mapping[str, str]) -> None:
    """Notify systemd that the service has started, if `environ` has NOTIFY_SOCKET (sd_notify(3))."""
    address = environ.get("NOTIFY_SOCKET")
    if address:
        with socket(AF_UNIX, SOCK_DGRAM) as notifying:
            # A leading @ means the abstract namespace of Linux.
            notifying.sendto(b"READY=1", address.replace("@", "\0", 1) if address[0] == "@" else address)
