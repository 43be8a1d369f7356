"""Times on pages: in UTC, and for scripts in a form that browsers convert to local time."""

from __future__ import annotations

from datetime import UTC, datetime

from attrs import frozen

_DAY = 86_400.0


@frozen
class Moment:
    """A time: `iso` for the element `time`, and `text` in UTC. `style` is `time`, or `datetime` with the date."""

    iso: str
    text: str
    style: str


def moment(seconds: float | None) -> Moment | None:
    """Return a time in seconds since the epoch with its date; None for None."""
    return None if seconds is None else _moment(seconds, "datetime", "%Y-%m-%d %H:%M UTC")


def next_moment(seconds: float | None, now: float) -> Moment | None:
    """Return a time after `now`, without the date if it is in the next 24 hours."""
    is_soon = seconds is not None and seconds - now < _DAY
    return _moment(seconds, "time", "%H:%M UTC") if is_soon and seconds is not None else moment(seconds)


def _moment(seconds: float, style: str, form: str) -> Moment:
    utc = datetime.fromtimestamp(seconds, UTC)
    return Moment(utc.strftime("%Y-%m-%dT%H:%M:%SZ"), utc.strftime(form), style)
