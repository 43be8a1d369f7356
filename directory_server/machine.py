"""The clocks of this machine."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from . import sqlite

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


def machine_time() -> sqlite.MachineTime:
    """Return the clocks of this machine.

    Linux names each boot (random(4)), and its CLOCK_BOOTTIME counts the time in which the machine is suspended, too.
    Elsewhere the monotonic clock, which all processes share, takes its place, and boots have no name.
    """
    try:
        boot = _BOOT_ID.read_text("ascii").strip()
        clock = time.CLOCK_BOOTTIME
    except (OSError, ValueError, AttributeError):
        return sqlite.MachineTime(time.time, time.monotonic, "")
    return sqlite.MachineTime(time.time, lambda: time.clock_gettime(clock), boot)


def use_monotonic_timers(reactor: Any) -> None:
    """Have the timers of `reactor` follow the monotonic clock.

    Twisted takes the time of day: where that is set back, nothing that is due later runs until it has caught up, no
    heartbeat, no timeout, no poll of the database; where it is set forward, every timeout is over at once.
    """
    offset = time.monotonic() - reactor.seconds()
    for call in reactor.getDelayedCalls():
        call.time += offset
        call.seconds = time.monotonic
    reactor.seconds = time.monotonic
