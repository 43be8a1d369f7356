"""The logs of server processes: a test that fails shows their ends, and tests count the tracebacks in them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

LINES, REQUESTS = 40, 10
"""Lines of each log that are shown; lines of the access log only among the last ones, because tests poll."""

FILES = 12
"""The most logs that are shown."""

running: set[Path] = set()
"""Logs of servers that run, also those that the tests of a module share."""


def ends(folder: Path | None) -> Iterator[tuple[str, str]]:
    """Yield the path and the last lines of the logs of running servers, and of those in the `folder` of a test."""
    paths = running | set(folder.rglob("*.log") if folder is not None else ())
    for path in sorted(paths)[:FILES]:
        try:
            lines = path.read_text("utf-8", "replace").splitlines()
        except OSError:
            continue
        others = [line for line in lines[:-REQUESTS] if "[directory_server.access#" not in line]
        if lines:
            yield f"end of {path}", "\n".join([*others, *lines[-REQUESTS:]][-LINES:])


def tracebacks(log: str) -> int:
    """Count the tracebacks in a log, except those of Twisted's reserved descriptor.

    Twisted logs one if a thread opens a file while the descriptor is used to close a connection. The port waits
    then, and the descriptor is reserved again (`http._sockets`).
    """
    return log.count("Traceback") - log.count("Could not reserve EMFILE recovery file descriptor")
