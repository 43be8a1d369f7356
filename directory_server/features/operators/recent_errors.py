"""Errors in the log of this process, for the overview."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

from attrs import frozen
from twisted.application.service import Service
from twisted.logger import ILogObserver, LogEvent, LogLevel, formatEvent, globalLogPublisher
from zope.interface import implementer

from ...texts.sanitize import clean_line

DAY = 86_400.0

MAX_ERRORS = 50
"""Errors in memory, the newest. Their texts have at most MAX_TEXT characters."""

MAX_TEXT = 300


@frozen
class LoggedError:
    """An error at a time in seconds since the epoch."""

    at: float
    text: str


@implementer(ILogObserver)
class RecentErrors(Service):
    """Collects the errors that this process logs while the service runs. `now` returns seconds since the epoch."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._errors: deque[LoggedError] = deque(maxlen=MAX_ERRORS)

    def startService(self) -> None:
        super().startService()
        globalLogPublisher.addObserver(self)

    def stopService(self) -> None:
        globalLogPublisher.removeObserver(self)
        super().stopService()

    def __call__(self, event: LogEvent) -> None:
        if event.get("log_level") in (LogLevel.error, LogLevel.critical):
            # An observer must not raise, and a traceback is in the log.
            text = formatEvent(event).strip().partition("\n")[0]
            self._errors.appendleft(LoggedError(self._now(), clean_line(text, MAX_TEXT)))

    def of_last_day(self) -> Sequence[LoggedError]:
        """Return the errors of the last 24 hours, the newest first."""
        return [error for error in self._errors if error.at > self._now() - DAY]
