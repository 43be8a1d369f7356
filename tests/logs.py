"""Capture log lines in tests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from twisted.logger import ILogObserver, LogEvent, formatEvent, globalLogPublisher
from zope.interface import provider


@contextmanager
def captured_lines(namespace: str = "") -> Iterator[list[str]]:
    """Return the list that each event with a namespace that starts with `namespace` is added to as text."""
    lines: list[str] = []

    @provider(ILogObserver)
    def observe(event: LogEvent) -> None:
        if str(event.get("log_namespace", "")).startswith(namespace):
            lines.append(formatEvent(event))

    globalLogPublisher.addObserver(observe)
    try:
        yield lines
    finally:
        globalLogPublisher.removeObserver(observe)
