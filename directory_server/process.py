"""The process, to the operating system: what it asks for, and what it tells."""

from __future__ import annotations

import resource
from collections.abc import Mapping
from socket import AF_UNIX, SOCK_DGRAM, socket


def ready(environ: Mapping[str, str]) -> None:
    """Say that the service has started, where `environ` names somebody who waits for that (sd_notify(3))."""
    address = environ.get("NOTIFY_SOCKET")
    if address:
        with socket(AF_UNIX, SOCK_DGRAM) as notifying:
            # An address that begins with @ is one of Linux's abstract namespace.
            notifying.sendto(b"READY=1", address.replace("@", "\0", 1) if address[0] == "@" else address)


def raise_file_limit() -> int:
    """Let this process open as many files as it may let itself; return how many (getrlimit(2), RLIMIT_NOFILE)."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    except (OSError, ValueError):  # macOS says that there is no limit, and then has one.
        return soft
    return hard
