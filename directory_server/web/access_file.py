"""Access log file, or standard output: rotation, reopening and write errors."""

from __future__ import annotations

import os
from collections.abc import Callable
from errno import EINVAL
from pathlib import Path
from typing import Any

from twisted.logger import LogEvent, Logger
from twisted.python.logfile import LogFile

from ..domain.errors import Unavailable
from ..texts.wording import counted
from .access_log import NAMESPACE

STANDARD_OUTPUT = Path("-")
"""The path that stands for the standard output."""

ROTATE_BYTES = 100_000_000
"""Approximate size in bytes at which the file is rotated."""

ROTATED_FILES = 5
"""Number of rotated files to keep."""


class AccessFile:
    """Write the access log to the file at `path`; pass `logger` to an `AccessLog`. Raises Unavailable.

    Lines that cannot be written are counted and dropped: an access log must not fail requests. The server log gets
    one line at the first loss and one when the file can be written again.
    """

    _log = Logger()

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._file = _open(path)
        except OSError as error:
            raise Unavailable(f"log.access_file: {path} cannot be written: {error.strerror}.") from None
        self._dropped = 0
        self.logger = Logger(NAMESPACE, observer=self._write)  # type: ignore[arg-type]  # a function is an observer

    def reopen(self) -> None:
        """Reopen the file by its name, after a program such as logrotate has renamed it."""
        self._try(self._reopen)

    def _reopen(self) -> None:
        # Open first: if this fails, the old file stays in use.
        file, old = _open(self._path), self._file
        self._file = file
        old.close()

    def _write(self, event: LogEvent) -> None:
        lines = list(event["lines"].written())
        # A failed write may have left half a line, and a failed rotation a closed file.
        text = "".join(["\n", *lines] if self._dropped else lines)
        if (self._dropped and not self._try(self._reopen)) or not self._try(self._file.write, text):
            self._dropped += len(lines)
        elif self._dropped:
            dropped, self._dropped = self._dropped, 0
            self._log.info(
                "Access log available again: {path}; {lines} dropped", path=self._path, lines=counted(dropped, "line")
            )

    def _try(self, operation: Callable[..., Any], *arguments: Any) -> bool:
        try:
            operation(*arguments)
        except (OSError, ValueError) as error:  # ValueError: the file is closed.
            if not self._dropped:
                reason = getattr(error, "strerror", None) or str(error)
                self._log.error(
                    "Access log unavailable: {path}: {reason}; lines are dropped until it can be written",
                    path=self._path,
                    reason=reason,
                )
            return False
        return True


class _StandardOutput:
    """The standard output of the process. twistd replaces sys.stdout by the server log."""

    def write(self, text: str) -> None:
        """Write all of `text`. Raises OSError."""
        left = text.encode(errors="replace")
        while left:
            left = left[os.write(1, left) :]

    def close(self) -> None:
        """Do nothing."""


def has_standard_output() -> bool:
    """Return whether somebody may read the standard output: a daemon has none."""
    try:
        return os.fstat(1).st_rdev != os.stat(os.devnull).st_rdev
    except OSError:
        return False


def _open(path: Path) -> LogFile | _StandardOutput:
    if path == STANDARD_OUTPUT:
        return _StandardOutput()
    # A rotation would rename a device, and a pipe cannot be continued at its end.
    if path.exists() and not path.is_file():
        raise OSError(EINVAL, f"It is not a regular file. {STANDARD_OUTPUT} is the standard output")
    file: LogFile = LogFile.fromFullPath(
        str(path), rotateLength=ROTATE_BYTES, maxRotatedFiles=ROTATED_FILES, defaultMode=0o640
    )
    return file
