"""What readers who stop reading cost while much is published, and whether the others notice."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import AbstractContextManager

from ._crowd import crowd
from ._servers import Server

FRAME = b"event: message\ndata: %s\n\n" % (b"x" * 8_000)

READERS = 10
"""Streams whose readers read."""


def stalled(start: Callable[[int], AbstractContextManager[Server]], stalled: int, megabytes: int) -> str:
    """Publish so much, four frames at a time, each time until the readers have them; return what was found."""
    with start(stalled + READERS) as server, crowd(server.asking) as readers:
        readers("open", stalled + READERS, 10)
        readers("stall", stalled)
        silent = readers("stalled")
        rounds = megabytes * 1_000_000 // (4 * len(FRAME))
        kept = missing = 0
        began, before, most = time.monotonic(), server.rss(), 0
        for number in range(rounds):
            token = b"event: message\ndata: token-%d-\n\n" % number
            readers.start("await_all", token, silent)
            server.publish(FRAME * 4 + token)
            missing += readers.result()["missing"]
            # Looked at often until they are cut.
            if number % 200 == 0 or kept == 0 or number < 3_000:
                told = json.loads(server.look("kept=1"))
                kept, most = max(kept, told["kept"]), max(most, server.rss() - before)
        told = json.loads(server.look())
        return (
            f"{megabytes} MB published to {stalled} stalled readers and {READERS} others in "
            f"{time.monotonic() - began:.0f} s: at most {kept / 1000:.0f} KB kept for one, by kernel and program; "
            f"memory at most {most / 1e6:.1f} MB above the beginning; {told['cuts']} cut, {told['open']} left, "
            f"{missing} frames missed by the others"
        )
