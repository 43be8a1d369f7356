"""The clocks of this machine."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..domain.ports.runtime import MachineTime

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


def machine_time() -> MachineTime:
    """Return the clocks of this machine.

    On Linux each boot has an id (random(4)), and CLOCK_BOOTTIME includes the time in which the machine is suspended.
    On other systems the monotonic clock, which all processes share, is used, and the boot id is empty.
    """
    try:
        boot = _BOOT_ID.read_text("ascii").strip()
        clock = time.CLOCK_BOOTTIME
    except (OSError, ValueError, AttributeError):
        return MachineTime(time.time, time.monotonic, "")
    return MachineTime(time.time, lambda: time.clock_gettime(clock), boot)


def use_monotonic_timers(reactor: Any) -> None:
    """Make the timers of `reactor` use the monotonic clock.

    Twisted uses the system time. If that is set back, no timer runs until it has caught up: no heartbeat, no timeout,
    no poll of the database. If it is set forward, all timeouts expire at once.
    """
    offset = time.monotonic() - reactor.seconds()
    for call in reactor.getDelayedCalls():
        call.time += offset
        call.seconds = time.monotonic
    reactor.seconds = time.monotonic


def anchored(wall: Callable[[], float], monotonic: Callable[[], float]) -> Callable[[], float]:
    """Return a clock that reads `wall` once and continues with `monotonic`, both in seconds.

    A change of the system time then affects neither quota nor expiry; the next start uses the new time.
    """
    start = wall() - monotonic()

    def now() -> float:
        return start + monotonic()

    return now
