"""The lock of a data directory, held while its files are created or upgraded."""

from __future__ import annotations

import fcntl
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..domain.errors import Unavailable

TIMEOUT = 10.0
"""Seconds to wait for another process that holds the lock."""

_INTERVAL = 0.05
"""Seconds between two attempts."""


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Lock `folder` against other processes. Raises Unavailable if another one holds the lock for TIMEOUT."""
    try:
        held = os.open(folder, os.O_RDONLY)
    except OSError as error:
        raise Unavailable(f"The data directory cannot be opened: {error.strerror}.") from error
    try:
        _lock(held, folder)
        yield
    finally:
        os.close(held)


def _lock(held: int, folder: Path) -> None:
    """Lock the open folder `held` (flock(2))."""
    pause = threading.Event()
    for _ in range(max(round(TIMEOUT / _INTERVAL), 1)):
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            pause.wait(_INTERVAL)
        else:
            return
    raise Unavailable(
        f"another process has locked {folder} for more than {TIMEOUT:g} seconds. A process that upgrades the data "
        f"directory does so; any other should be ended. 'lsof {folder}' lists the processes."
    )
