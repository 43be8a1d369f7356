"""Opening files that an operator names: pipes are waited for only so long."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from errno import EINVAL, ETIMEDOUT
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import BinaryIO

WAIT = 10.0
"""Seconds to wait until a process opens a pipe for writing."""


def open_file(path: str | Path) -> BinaryIO:
    """Open a file or a pipe for reading. Raises OSError, also if no process opens a pipe for writing within WAIT."""
    if not stat.S_ISFIFO(os.stat(path).st_mode):
        return open(path, "rb")
    opened: SimpleQueue[BinaryIO] = SimpleQueue()
    Thread(target=lambda: opened.put(os.fdopen(os.open(path, os.O_RDONLY), "rb")), daemon=True).start()
    try:
        return opened.get(timeout=WAIT)
    except Empty:
        # The thread waits for a writer: this is one.
        with suppress(OSError):
            os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
            opened.get(timeout=WAIT).close()
        raise TimeoutError(ETIMEDOUT, "It is a pipe that no process writes to", str(path)) from None


def read_regular_file(path: str | Path, limit: int = -1) -> bytes:
    """Return the content of a file, at most `limit` bytes unless it is -1.

    Raises OSError, also for a pipe or device, which could block.
    """
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(EINVAL, "It is not a regular file", str(path))
        return file.read(limit)
