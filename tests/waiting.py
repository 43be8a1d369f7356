"""Waiting for an event of another process."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

TIMEOUT = 60.0
"""Upper bound in seconds on the wait for one event, far above what a loaded machine needs."""


def until(condition: Callable[[], Any], event: str, timeout: float = TIMEOUT) -> Any:
    """Return the result of `condition` once it is true. Fail after `timeout` seconds with the name of the `event`."""
    end = time.monotonic() + timeout
    try:
        while not (result := condition()):
            assert time.monotonic() < end, f"{event}: not within {timeout} seconds"
            time.sleep(0.02)
    except Exception as error:
        error.add_note(f"The test waited for this event: {event}")
        raise
    return result
