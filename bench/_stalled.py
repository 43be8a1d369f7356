"""Measure the memory cost of stalled readers during many broadcasts, and their effect on other readers."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import AbstractContextManager

from ._crowd import crowd
from ._servers import Server

EVENT = b"event: message\ndata: %s\n\n" % (b"x" * 8_000)

READERS = 10
"""Streams whose clients read."""


def stalled(start: Callable[[int], AbstractContextManager[Server]], stalled: int, megabytes: int) -> str:
    """Publish `megabytes` of events, four at a time, waiting for the readers each time; return the result as text."""
    with start(stalled + READERS) as server, crowd(server.stream_request) as readers:
        readers("open", stalled + READERS, 10)
        readers("stall", stalled)
        silent = readers("stalled")
        rounds = megabytes * 1_000_000 // (4 * len(EVENT))
        backlog = missing = 0
        began, before, most = time.monotonic(), server.rss(), 0
        for number in range(rounds):
            token = b"event: message\ndata: token-%d-\n\n" % number
            readers.start("await_all", token, silent)
            server.publish(EVENT * 4 + token)
            missing += readers.result()["missing"]
            # Check often until the stalled streams are aborted.
            if number % 200 == 0 or backlog == 0 or number < 3_000:
                state = json.loads(server.look("kept=1"))
                backlog, most = max(backlog, state["kept"]), max(most, server.rss() - before)
        state = json.loads(server.look())
        return (
            f"{megabytes} MB published to {stalled} stalled readers and {READERS} others in "
            f"{time.monotonic() - began:.0f} s: at most {backlog / 1000:.0f} KB queued for one, by kernel and server; "
            f"memory at most {most / 1e6:.1f} MB above the start; {state['cuts']} aborted, {state['open']} open, "
            f"{missing} events missed by the others"
        )
