"""File of the access log: rotation, reopening, and a disk that cannot take the lines."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from twisted.logger import LogEvent, Logger
from twisted.python.logfile import LogFile

from ..domain.errors import Unavailable
from .access_log import NAMESPACE

ROTATION = 100_000_000
"""Bytes of a file of lines, about; a longer one becomes the first of those that are kept."""

KEPT = 5
"""Files of lines that are kept beside the one that is written."""


class AccessFile:
    """Writes the access log to the file at `path`; `logger` is what an `access.Log` takes. Raises Unavailable.

    What cannot be written is counted and lost: an access log must not fail requests, nor fill the other log. The
    first loss and the end of the losses are one line each there.
    """

    _log = Logger()

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._file = _opened(path)
        except OSError as error:
            raise Unavailable(f"log.access_file: {path} cannot be written: {error.strerror}.") from None
        self._lost = 0
        self.logger = Logger(NAMESPACE, observer=self._write)  # type: ignore[arg-type]  # a function is an observer

    def reopen(self) -> None:
        """Open the file again by its name, after a program such as logrotate has renamed it."""
        self._try(self._reopen)

    def _reopen(self) -> None:
        # Before the old one is closed: if this fails, that one goes on.
        file, old = _opened(self._path), self._file
        self._file = file
        old.close()

    def _write(self, event: LogEvent) -> None:
        lines = [f"{time} {line}\n" for time, line in event["lines"].each()]
        # A write that failed may have left half a line, and a rotation that failed a closed file.
        text = "".join(["\n", *lines] if self._lost else lines)
        if (self._lost and not self._try(self._reopen)) or not self._try(self._file.write, text):
            self._lost += len(lines)
        elif self._lost:
            lost, self._lost = self._lost, 0
            self._log.info("Access log available again: {path}; {lost} lines were lost", path=self._path, lost=lost)

    def _try(self, operation: Callable[..., Any], *arguments: Any) -> bool:
        try:
            operation(*arguments)
        except (OSError, ValueError) as error:  # ValueError: the file is closed.
            if not self._lost:
                reason = getattr(error, "strerror", None) or str(error)
                self._log.error(
                    "Access log unavailable: {path}: {reason}; lines are lost until it can be written",
                    path=self._path,
                    reason=reason,
                )
            return False
        return True


def _opened(path: Path) -> LogFile:
    file: LogFile = LogFile.fromFullPath(str(path), rotateLength=ROTATION, maxRotatedFiles=KEPT, defaultMode=0o640)
    return file
