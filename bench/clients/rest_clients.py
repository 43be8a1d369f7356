"""A reader of the change feed of one server."""

from __future__ import annotations

import http.client
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

PATIENCE = 60.0
"""Seconds within which an event must arrive."""


class DidNotHappen(Exception):
    """An event did not arrive."""


@contextmanager
def arrival_times(port: int, key: str) -> Iterator[Callable[[str], float]]:
    """Read the change feed; yield a function that waits for the event of a name.

    It returns the time of its arrival in seconds of the monotonic clock. Raises DidNotHappen.
    """
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    connection.request(
        "GET", "/api/open/v1/changes", headers={"Authorization": f"Bearer {key}", "Accept": "text/event-stream"}
    )
    response = connection.getresponse()
    if response.status != 200:
        raise DidNotHappen(f"The change feed has the status {response.status}.")
    found: dict[str, float] = {}
    arrived = threading.Condition()

    def read() -> None:
        with suppress(OSError, ValueError, http.client.HTTPException, AttributeError):
            for line in response:
                now = time.monotonic()
                if line.startswith(b"data: ") and b'"name":"' in line:
                    with arrived:
                        found[line.split(b'"name":"')[1].split(b'"')[0].decode()] = now
                        arrived.notify_all()

    def of(name: str) -> float:
        with arrived:
            if not arrived.wait_for(lambda: name in found, PATIENCE):
                raise DidNotHappen(f"No event of {name} arrived.")
            return found[name]

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    try:
        yield of
    finally:
        if connection.sock is not None:
            connection.sock.close()
        response.close()
